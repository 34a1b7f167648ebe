// Whether a client knows the errors of its service by number, name and status.

// Our own words, as no client has one that fits: they ask to come back.
const OWN = {
  all: [1901, 1902, 1903, 1904],
  Builder: [1007, 1200, 1201],
}

// The errors of a client by number, as it makes them of an answer that says no more.
function errorsOf(client) {
  const kinds = Object.values(client).filter((kind) => kind?.prototype instanceof client.WebrpcError)
  return new Map(kinds.map((kind) => kind.new({})).map((error) => [error.code, error]))
}

export function unknownWords(api, client, service) {
  const errors = errorsOf(client)
  const own = [...OWN.all, ...(OWN[service] ?? [])]
  const { 'x-errors': told } = api.tags.find(({ name }) => name === service) ?? { 'x-errors': [] }
  const faults = told.map(({ code, name, status }) => {
    const declared = errors.get(code)
    if (own.includes(code)) return declared && `means ${declared.name} to its client`
    if (!declared) return 'is nothing that its client knows'
    if (declared.name !== name) return `is ${declared.name} to its client`
    // Some clients leave statuses to the answer; and what is too large is a bad request with a status of its own.
    const agrees = [0, status].includes(declared.status) || (code === -4 && status === 413)
    return agrees ? undefined : `has status ${declared.status} for its client`
  })
  return told.flatMap(({ code, name, status }, index) => (faults[index] ? [`${service}: ${code} ${name} ${status} ${faults[index]}`] : []))
}
