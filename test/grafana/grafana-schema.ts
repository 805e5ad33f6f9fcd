import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A type of Grafana's published schema, as far as JSON can be held against it. */
export type SchemaType =
  | { kind: 'any' }
  | { kind: 'primitive'; name: 'string' | 'number' | 'boolean' | 'null' }
  | { kind: 'literal'; value: string | number }
  | { kind: 'list'; of: SchemaType }
  | { kind: 'record'; of: SchemaType }
  | { kind: 'union'; of: readonly SchemaType[] }
  | { kind: 'object'; fields: ReadonlyMap<string, { type: SchemaType; isOptional: boolean }> }
  | { kind: 'reference'; module: string; name: string }

const packageFolder = join(
  dirname(fileURLToPath(import.meta.resolve('@grafana/grafana-foundation-sdk/dashboard'))),
  '..',
)
const modules = new Map<string, ReadonlyMap<string, SchemaType>>()

/** What a module of the published schema calls by that name; null where it has no such type. */
export function schemaType(module: string, name: string): SchemaType | null {
  const types = modules.get(module) ?? readModule(module)
  modules.set(module, types)
  return types.get(name) ?? null
}

/** Enums are unions of their values, and `Enum.Member` is a type of its own. */
function readModule(module: string): ReadonlyMap<string, SchemaType> {
  const text = readFileSync(join(packageFolder, module, 'types.gen.d.ts'), 'utf8').replace(
    /\/\*[\s\S]*?\*\//g,
    '',
  )
  const types = new Map<string, SchemaType>()
  for (const [, name = '', body = ''] of text.matchAll(/export declare enum (\w+) \{([^}]*)\}/g)) {
    const members = [...body.matchAll(/(\w+) = ("[^"]*"|-?\d+)/g)].map(
      ([, member = '', value = '']) => [member, literal(value)] as const,
    )
    for (const [member, type] of members) types.set(`${name}.${member}`, type)
    types.set(name, { kind: 'union', of: members.map(([, type]) => type) })
  }
  for (const [, name = '', at] of declarations(text, /export (?:interface (\w+) |type (\w+) = )/g))
    types.set(name, parseType(tokensFrom(text.slice(at)), module))
  return types
}

function declarations(text: string, pattern: RegExp): [string, string, number][] {
  return [...text.matchAll(pattern)].map((found) => [
    found[0],
    found[1] ?? found[2] ?? '',
    found.index + found[0].length,
  ])
}

type Tokens = { next: () => string; peek: () => string }

function tokensFrom(text: string): Tokens {
  const pattern = /\s*("[^"]*"|-?\d+|[\w.]+|\S)/y
  let ahead: string | null = null
  const read = (): string => pattern.exec(text)?.[1] ?? ''
  return {
    peek: () => (ahead ??= read()),
    next() {
      const token = ahead ?? read()
      ahead = null
      return token
    },
  }
}

function parseType(tokens: Tokens, module: string): SchemaType {
  const of = [parseMember(tokens, module)]
  while (tokens.peek() === '|') {
    tokens.next()
    of.push(parseMember(tokens, module))
  }
  const [only] = of
  return of.length === 1 && only !== undefined ? only : { kind: 'union', of }
}

function parseMember(tokens: Tokens, module: string): SchemaType {
  let type = parseSingle(tokens, module)
  while (tokens.peek() === '[') {
    expectTokens(tokens, '[', ']')
    type = { kind: 'list', of: type }
  }
  return type
}

const primitives = ['string', 'number', 'boolean', 'null'] as const

function parseSingle(tokens: Tokens, module: string): SchemaType {
  const token = tokens.next()
  if (token === '{') return parseObject(tokens, module)
  if (token === '(') {
    const inner = parseType(tokens, module)
    expectTokens(tokens, ')')
    return inner
  }
  if (token === 'Record') return parseRecord(tokens, module)
  if (token === 'any' || token === 'void') return { kind: 'any' }
  const name = primitives.find((primitive) => primitive === token)
  if (name !== undefined) return { kind: 'primitive', name }
  return /^["\d-]/.test(token) ? literal(token) : referenceTo(token, module)
}

/** `common.X` is of another module, `Enum.Member` of this one: modules are in lower case. */
function referenceTo(token: string, module: string): SchemaType {
  const [, other, name] = /^([a-z]\w*)\.(.+)$/.exec(token) ?? []
  return { kind: 'reference', module: other ?? module, name: name ?? token }
}

function parseRecord(tokens: Tokens, module: string): SchemaType {
  expectTokens(tokens, '<', 'string', ',')
  const of = parseType(tokens, module)
  expectTokens(tokens, '>')
  return { kind: 'record', of }
}

function parseObject(tokens: Tokens, module: string): SchemaType {
  const fields = new Map<string, { type: SchemaType; isOptional: boolean }>()
  for (let name = tokens.next(); name !== '}'; name = tokens.next()) {
    const isOptional = tokens.peek() === '?'
    if (isOptional) tokens.next()
    const isMethod = tokens.peek() === '('
    if (isMethod) expectTokens(tokens, '(', ')')
    expectTokens(tokens, ':')
    const type = parseType(tokens, module)
    expectTokens(tokens, ';')
    // What only types have is never written.
    if (!isMethod) fields.set(name, { type, isOptional })
  }
  return { kind: 'object', fields }
}

function expectTokens(tokens: Tokens, ...wanted: readonly string[]): void {
  for (const one of wanted) {
    const found = tokens.next()
    if (found !== one) throw new Error(`the published schema has "${found}" where "${one}" is expected`)
  }
}

function literal(token: string): SchemaType {
  return { kind: 'literal', value: token.startsWith('"') ? token.slice(1, -1) : Number(token) }
}
