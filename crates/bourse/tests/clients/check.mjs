// Calls every method of the published clients, and has the compiler compare what comes with what they declare.
//
//     node check.mjs URL CREDENTIALS CREDENTIALS
//
// The URL is that of a demonstration, the first file of credentials the one that it writes. It has no node, so that all of it can be
// traded. The second file is that of another one, whose node knows nothing of its contracts: it is asked what clients ask nodes. Prints
// what does not fit, and fails then.

import { readFileSync } from 'node:fs'

import { bodies, inOrder } from './bodies.mjs'
import { clients, notServed, refused as expected, words, wrong } from './clients.mjs'
import { misfits } from './types.mjs'
import { unknownWords } from './words.mjs'

const [url, ...credentials] = process.argv.slice(2)
const [traded, asked] = credentials.map((file) => JSON.parse(readFileSync(file, 'utf8')))
const api = await (await fetch(`${url}/openapi.json`)).json()
const faults = []
const answers = []
const answered = {}

async function load(module) {
  const loaded = await import(module)
  return { ...loaded.default, ...loaded }
}

// The methods of a client with the operations that they call.
function methods(client) {
  const names = Object.keys(client).filter((name) => typeof client[name] === 'function' && !/^(_|fetch$)/.test(name))
  return inOrder(names.map((name) => ({ name, operation: name[0].toUpperCase() + name.slice(1) })))
}

function bodyOf(path, context) {
  const example = api.paths[`/rpc/${path}`]?.post['x-example'] ?? {}
  // Stale, if anything, only once: each call gets what is said of it first.
  return bodies[path]?.(context) ?? example
}

// Calls one method, and tells what it answered, or why not.
async function call(client, method, path, context) {
  let status
  context.seen = (response) => (status = response.status)
  try {
    const body = bodyOf(path, context)
    if (method.name.startsWith('subscribe')) return await opened(client, method.name, body).then(() => ({}))
    return { answer: await client[method.name](body) }
  } catch (error) {
    if (expected[path] && error instanceof context.loaded[expected[path]]) return {}
    return { refused: `${error.name} ${error.code}, status ${status}: ${error.message}${error.cause ? ` (${error.cause})` : ''}` }
  }
}

// A stream is served when its client says that it is open; then it is left.
function opened(client, method, body) {
  const leaving = new AbortController()
  const open = new Promise((onOpen, onError) => {
    const stream = client[method](body, { onOpen, onError, onMessage() {}, signal: leaving.signal })
    leaving.signal.addEventListener('abort', () => stream.abort?.())
  })
  return open.finally(() => leaving.abort())
}

function requester(context) {
  return async (input, init) => {
    const headers = { ...init.headers, Authorization: `Bearer ${context.known.secretToken}` }
    const response = await fetch(input, { ...init, headers })
    context.seen?.(response)
    return response
  }
}

// Whether calls that are refused are told by the error that the client has for it.
async function wrongCalls(client, loaded, of) {
  const calls = Object.entries(wrong[of] ?? {}).map(async ([name, [body, expected]]) => {
    const said = await client[name](body).catch((error) => error)
    return said instanceof loaded[expected] ? [] : [`${of}.${name}: ${said.name} ${said.code} where ${expected} is expected`]
  })
  return (await Promise.all(calls)).flat()
}

let unique = Date.now()
for (const { module, of, as = of, base, hasErrors, asksNodes } of clients) {
  const loaded = await load(module)
  const known = asksNodes ? asked : traded
  const context = { known, loaded, said: {}, unique: ++unique, base: known[base], service: of }
  context.request = requester(context)
  const client = Object.assign(new loaded[as](known[base], as === of ? context.request : ''), { fetch: context.request })
  const served = []
  const all = methods(client)
  for (const method of all) {
    const path = `${of}/${method.operation}`
    const { answer, refused } = await call(client, method, path, context)
    if (answer !== undefined) {
      context.said[method.operation] = answer
      answers.push({ module, of: as, method: method.name, answer })
    }
    if (refused === undefined) {
      served.push(method.name)
      if (notServed[path]) faults.push(`${module} ${path} answers: it is not to be on the list of those that are not served`)
    } else if (!notServed[path]) {
      faults.push(`${module} ${path}: ${refused}`)
    }
  }
  answered[`${module} ${of}`] = `${served.length} of ${all.length}`
  if (hasErrors) faults.push(...unknownWords(api, loaded, of), ...(await wrongCalls(client, loaded, of)))
}
for (const { module, of } of words) faults.push(...unknownWords(api, await load(module), of))
faults.push(...misfits(answers))

for (const [client, count] of Object.entries(answered)) console.log(`${client}: ${count} methods answer`)
for (const fault of faults) console.log(`FAULT ${fault}`)
process.exit(faults.length > 0 ? 1 : 0)
