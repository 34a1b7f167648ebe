// Whether answers are of the types that clients declare: each is written down as a constant, and the compiler says.

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

// An answer as it is sent: enums as their words, null where something may be left out or is an object.
const PRELUDE = `
type Nothing<T> = undefined extends T ? null : [T] extends [readonly any[]] ? never : [T] extends [object] ? null : never
type Sent<T> = 0 extends 1 & T ? any
  : T extends string ? \`\${T}\`
  : T extends number | bigint | boolean | null | undefined ? T
  : T extends readonly (infer E)[] ? readonly Sent<E>[]
  : T extends object ? { readonly [K in keyof T]: Sent<T[K]> | Nothing<T[K]> }
  : T
type Answer<M> = M extends (...args: any[]) => Promise<infer A> ? Sent<A> : unknown
`

// A value as an expression; what clients decoded may be larger than a number.
function expression(value) {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(expression).join(', ')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{ ${members.map(([name, member]) => `${JSON.stringify(name)}: ${expression(member)}`).join(', ')} }`
}

export function misfits(answers) {
  const modules = [...new Set(answers.map(({ module, of }) => `${module} ${of}`))].map((both) => both.split(' '))
  const alias = (module, of) => `${of}_${module.replace('-', '_')}`
  const imports = modules.map(([module, of]) => `import type { ${of} as ${alias(module, of)} } from '${module}'`)
  const lines = [...imports, ...PRELUDE.split('\n')]
  const of = new Map()
  answers.forEach((answer, index) => {
    lines.push(`const said${index} = ${expression(answer.answer)} as const`)
    lines.push(`export const checked${index}: Answer<${alias(answer.module, answer.of)}['${answer.method}']> = said${index}`)
    of.set(lines.length - 1, answer)
  })
  return compile(lines.join('\n')).map(({ line, text }) => {
    const { module, of: service, method } = of.get(line) ?? { module: 'types', of: '', method: `line ${line}` }
    return `${module} ${service}.${method}: ${text}`
  })
}

function compile(text) {
  const file = join(dirname(fileURLToPath(import.meta.url)), 'answers.ts')
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, options.target) : getSourceFile(name, ...rest)
  host.fileExists = (name) => name === file || fileExists(name)
  host.readFile = (name) => (name === file ? text : readFile(name))
  const program = ts.createProgram([file], options, host)
  return ts.getPreEmitDiagnostics(program).map((found) => ({
    line: found.file?.getLineAndCharacterOfPosition(found.start).line,
    text: ts.flattenDiagnosticMessageText(found.messageText, '\n  '),
  }))
}
