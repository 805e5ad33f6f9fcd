import { type SchemaType, schemaType } from './grafana-schema.ts'

/** What in a JSON value is not as its type of the published schema has it, each with where it is. */
export function faultsOf(value: unknown, type: SchemaType, where = ''): string[] {
  const { kind } = type
  if (kind === 'any') return []
  if (kind === 'primitive')
    return unless(kindOf(value) === type.name, `${where}: ${kindOf(value)} in place of ${type.name}`)
  if (kind === 'literal')
    return unless(value === type.value, `${where}: ${JSON.stringify(value)} in place of ${type.value}`)
  if (kind === 'list') return faultsOfList(value, type.of, where)
  if (kind === 'record')
    return entriesOf(value).flatMap(([key, one]) => faultsOf(one, type.of, `${where}.${key}`))
  if (kind === 'union') return faultsOfUnion(value, type.of, where)
  if (kind === 'object') return faultsOfObject(value, type.fields, where)
  return faultsOf(value, resolve(type.module, type.name), where)
}

/** @throws Error where the published schema has no such type */
export function resolve(module: string, name: string): SchemaType {
  // Of queries the schema says only that there are some; each data source has its own.
  if (module === 'cog') return { kind: 'any' }
  const type = schemaType(module, name)
  if (type === null) throw new Error(`the published schema has no ${module}.${name}`)
  return type
}

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

function faultsOfList(value: unknown, type: SchemaType, where: string): string[] {
  if (!Array.isArray(value)) return [`${where}: no list`]
  return value.flatMap((one, place) => faultsOf(one, type, `${where}[${place}]`))
}

/** The faults of the member that fits best. */
function faultsOfUnion(value: unknown, members: readonly SchemaType[], where: string): string[] {
  const all = members.map((member) => faultsOf(value, member, where))
  return all.toSorted((one, other) => one.length - other.length)[0] ?? []
}

function faultsOfObject(
  value: unknown,
  fields: Extract<SchemaType, { kind: 'object' }>['fields'],
  where: string,
): string[] {
  if (kindOf(value) !== 'object') return [`${where}: no object`]
  const given = new Map(entriesOf(value))
  const strange = [...given.keys()].filter((key) => !fields.has(key)).map((key) => `${where}.${key}: unknown`)
  const missing = [...fields]
    .filter(([key, { isOptional }]) => !isOptional && !given.has(key))
    .map(([key]) => `${where}.${key}: missing`)
  const wrong = [...fields].flatMap(([key, { type }]) =>
    given.has(key) ? faultsOf(given.get(key), type, `${where}.${key}`) : [],
  )
  return [...strange, ...missing, ...wrong]
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}
