import { valueAt } from '../../../src/provider/infer/columns.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import type { ProvedProfile } from '../../../src/provider/prove/prove-profile.ts'
import { envelopePaths, type Shape } from './render-shape.ts'

/** Lines that claim to be proved, and are not what the service means. */
export function wrongLines(shape: Shape, { profile, proofs }: ProvedProfile): string[] {
  const at = (path: readonly string[]) =>
    path.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], profile)
  return proofs.flatMap(({ path, proof }) => {
    if (proof.kind === 'unsure') return []
    const problem = problemOf({ ...shape, base: baseOf(shape, profile) }, path, at(path))
    return problem === null ? [] : [`${path.join('.')} ${JSON.stringify(at(path))}: ${problem} (${proof.by})`]
  })
}

type Field = { paths?: string; as?: string; decimals?: unknown; otherwise?: string }

const asField = (value: unknown): Field => (typeof value === 'string' ? { paths: value } : (value as Field))

type LineCheck = (shape: BasedShape, path: readonly string[], value: unknown) => string | null

const checks: Readonly<Record<string, LineCheck>> = {
  networks: (shape, [, word = ''], value) => expected(value, shape.networkWords.get(word)),
  assets: (shape, [, word = ''], value) => expected(value, shape.assetWords.get(word)),
  list: (shape, [, name = ''], value) => listProblem(shape, name, value),
  webhook: (shape, path, value) => webhookProblem(shape, path, value),
  record: (shape, path, value) => {
    const word = path.at(-1) ?? ''
    if (path.includes('words')) return expected(value, shape.statuses.get(word) ?? ownerKinds.get(word))
    const field = path.slice(1).filter((name) => name !== 'paths')
    return fieldProblem(shape, field.join('.'), asField(value))
  },
}

const ownerKinds = new Map([
  ['CH', 'channel'],
  ['SW', 'stable_wallet'],
])

function problemOf(shape: BasedShape, path: readonly string[], value: unknown): string | null {
  const check = checks[path[0] ?? '']
  return check === undefined ? 'no such section' : check(shape, path, value)
}

function expected(value: unknown, truth: unknown): string | null {
  return value === truth ? null : `it is ${JSON.stringify(truth)}`
}

function fieldProblem(shape: BasedShape, field: string, found: Field): string | null {
  if (field.endsWith('.asset')) return assetProblem(shape, field, found)
  if (found.otherwise !== undefined && found.paths === undefined)
    return shape.world.others.every(({ owner }) => owner.kind === found.otherwise) ? null : 'owners differ'
  return columnProblem(shape, field, found.paths ?? '') ?? unitProblem(shape, field, found)
}

/** Right is what states the same of deposits that were not among the samples. */
function columnProblem(shape: BasedShape, field: string, paths: string): string | null {
  const truths = [...(shape.truth.get(field) ?? [])]
  const path = withoutRecord(shape, paths)
  const others = shape.world.others.flatMap((deposit) =>
    deposit.steps.map((_state, step) => parseLossless(JSON.stringify(shape.recordOf(deposit, step)))),
  )
  const isSame = truths.some((truth) =>
    others.every((record) => textAt(record, path) === textAt(record, truth)),
  )
  const isId = field === 'id' && isIdOf(shape, path)
  return isSame || isId ? null : `it is ${JSON.stringify(truths)}`
}

function unitProblem(shape: BasedShape, field: string, { as, decimals }: Field): string | null {
  if (field.endsWith('At')) return expected(as ?? 'iso', shape.timeUnit)
  const [truth = ''] = shape.truth.get(field) ?? []
  const unit = shape.units.get(truth)
  return unit === undefined ? null : expected(as ?? decimals?.toString() ?? 'base', unit)
}

function textAt(record: unknown, path: string): string {
  const paths = path.includes('*') ? ['0', '1'].map((item) => path.replace('*', item)) : [path]
  return paths.map((one) => JSON.stringify(valueAt(record, one) ?? null)).join(' ')
}

/** `base`: where the records of the profile are, below those of the service. */
type BasedShape = Shape & { base: readonly string[] }

/** Without records of the API, a record may begin at any object of the webhook. */
function baseOf(shape: Shape, { webhook }: ProvedProfile['profile']): string[] {
  if (shape.answers.length > 0) return []
  const { record } = (webhook ?? {}) as { record?: string }
  return (record ?? '').split('.').filter((name) => name !== '')
}

function withoutRecord(shape: BasedShape, path: string): string {
  const record = recordPath(shape)
  const full = [...shape.base, path].join('.')
  return shape.answers.length === 0 && full.startsWith(`${record}.`) ? full.slice(record.length + 1) : full
}

/** Any text that differs for each deposit, and stays: a number is never taken instead. */
function isIdOf({ world: { others }, recordOf }: Shape, path: string): boolean {
  const ids = others.map((deposit) =>
    deposit.steps.map((_state, step) => String(valueAt(recordOf(deposit, step), path))),
  )
  const isFixed = ids.every(([first, ...rest]) => rest.every((id) => id === first))
  return isFixed && new Set(ids.flat()).size === others.length && !/^\d+$/.test(ids[0]?.[0] ?? '')
}

function assetProblem(shape: BasedShape, field: string, { paths = '', as }: Field): string | null {
  const wrong = shape.world.others.filter((deposit) => {
    const asset = field === 'deposit.asset' ? deposit.asset : deposit.owner.forward?.asset
    if (asset === undefined) return false
    const [path, record] = [withoutRecord(shape, paths), shape.recordOf(deposit, deposit.steps.length - 1)]
    if (path.includes('*') && textAt(record, path.replace(/\*.*/, '0')) === 'null') return false
    const text = textAt(record, path.replace('*', '0')).replaceAll('"', '')
    const code = asset.key.slice(asset.key.indexOf('/') + 1)
    if (as !== 'symbol') return (text === 'null' || text === '' ? 'native' : text) !== code
    return text !== asset.symbol && shape.assetWords.get(text) !== asset.symbol
  })
  return wrong.length === 0 ? null : `wrong for ${wrong.length} others`
}

function webhookProblem(shape: Shape, path: readonly string[], value: unknown): string | null {
  const [name, word] = [String(path[1]), String(path.at(-1))]
  if (path.includes('words')) return expected(value, shape.kinds.get(word) ?? objectKinds.get(word))
  const record = recordPath(shape)
  if (name === 'record') return record === value ? null : `it is ${record}`
  const { paths, as = 'iso' } = asField(value)
  const wrong = envelopeProblem(record, name, String(paths))
  return wrong ?? (name === 'occurredAt' ? expected(as, shape.timeUnit) : null)
}

function envelopeProblem(record: string, name: string, paths: string): string | null {
  const truth = envelopePaths(record)[name]
  const isObject = name === 'kind' && paths.endsWith('object')
  return paths === truth || isObject ? null : `it is ${truth}`
}

/** Of the kind of object, which divides webhooks as well. */
const objectKinds = new Map([
  ['deposit', 'deposit'],
  ['endpoint', 'ignored'],
])

function recordPath({ payloads }: Shape): string {
  const last: object = payloads.at(-1) ?? {}
  if ('data' in last) return 'data'
  return 'payload' in last ? 'payload.deposit' : ''
}

function listProblem(shape: Shape, name: string, value: unknown): string | null {
  const [answer] = shape.answers as [object]
  if (name === 'items')
    return expected(value, Array.isArray(answer) ? null : 'items' in answer ? 'items' : 'result.rows')
  if (name === 'order') return expected(value, shape.order)
  return 'nothing was known of it'
}
