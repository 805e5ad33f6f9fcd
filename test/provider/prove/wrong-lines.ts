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

type Field = { paths: string; as?: string; decimals?: unknown }

const asField = (value: unknown): Field => (typeof value === 'string' ? { paths: value } : (value as Field))

function problemOf(shape: BasedShape, path: readonly string[], value: unknown): string | null {
  const [section, name = '', word = '', last = ''] = path
  if (section === 'networks') return expected(value, shape.networkWords.get(name))
  if (section === 'assets') return expected(value, shape.assetWords.get(name))
  if (section === 'list') return listProblem(shape, name, value)
  if (section === 'webhook') return webhookProblem(shape, path, value)
  if (name === 'status' && word === 'words') return expected(value, shape.statuses.get(last))
  if (name === 'owner' && last === 'words')
    return expected(value, ({ CH: 'channel', SW: 'stable_wallet' } as Record<string, string>)[path[4] ?? ''])
  const field = path
    .slice(1)
    .filter((one) => one !== 'paths')
    .join('.')
  return fieldProblem(shape, field, asField(value))
}

function expected(value: unknown, truth: unknown): string | null {
  return value === truth ? null : `it is ${JSON.stringify(truth)}`
}

/** Right is what states the same of deposits that were not among the samples. */
function fieldProblem(shape: BasedShape, field: string, found: Field): string | null {
  const truths = [...(shape.truth.get(field) ?? [])]
  if (field === 'deposit.asset' || field === 'settlement.asset') return assetProblem(shape, field, found)
  const { paths, as, decimals } = found
  const path = withoutRecord(shape, paths)
  const others = shape.world.others.flatMap((deposit) =>
    deposit.steps.map((_state, step) => parseLossless(JSON.stringify(shape.recordOf(deposit, step)))),
  )
  const textAt = (record: unknown, at: string) => JSON.stringify(valueAt(record, at) ?? null)
  const isSame = truths.some((truth) =>
    others.every((record) => textAt(record, path) === textAt(record, truth)),
  )
  const isId = field === 'id' && isIdOf(shape, path)
  if (!isSame && !isId) return `it is ${JSON.stringify(truths)}`
  const unit = shape.units.get(truths[0] ?? '')
  if (unit !== undefined) return expected(as ?? decimals?.toString() ?? 'base', unit)
  return field.endsWith('At') ? expected(as ?? 'iso', shape.timeUnit) : null
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

function assetProblem(shape: BasedShape, field: string, { paths, as }: Field): string | null {
  const wrong = shape.world.others.filter((deposit) => {
    const asset = field === 'deposit.asset' ? deposit.asset : deposit.owner.forward?.asset
    if (asset === undefined) return false
    const text = valueAt(shape.recordOf(deposit, 0), withoutRecord(shape, paths))
    const code = asset.key.slice(asset.key.indexOf('/') + 1)
    if (as !== 'symbol')
      return (text === undefined || text === null || text === '' ? 'native' : text) !== code
    return text !== asset.symbol && shape.assetWords.get(String(text)) !== asset.symbol
  })
  return wrong.length === 0 ? null : `wrong for ${wrong.length} others`
}

function webhookProblem(
  shape: Shape,
  [, name = '', part = '', word = '']: readonly string[],
  value: unknown,
): string | null {
  if (part === 'words') return expected(value, shape.kinds.get(word) ?? objectKinds.get(word))
  const record = recordPath(shape)
  if (name === 'record') return expected(value, record === '' ? undefined : record)
  const { paths, as } = asField(value)
  const truth = envelopePaths(record)[name]
  const isObject = name === 'kind' && paths.endsWith('object')
  if (paths !== truth && !isObject) return `it is ${truth}`
  return name === 'occurredAt' ? expected(as ?? 'iso', shape.timeUnit) : null
}

/** Of the kind of object, which divides webhooks as well. */
const objectKinds = new Map([
  ['deposit', 'deposit'],
  ['endpoint', 'ignored'],
])

function recordPath({ payloads }: Shape): string {
  const last = (payloads.at(-1) ?? {}) as object
  if ('data' in last) return 'data'
  return 'payload' in last ? 'payload.deposit' : ''
}

function listProblem(shape: Shape, name: string, value: unknown): string | null {
  const [answer] = shape.answers as [object]
  if (name === 'items')
    return expected(value, Array.isArray(answer) ? null : 'items' in answer ? 'items' : 'result.rows')
  if (name === 'order') return null
  return 'nothing was known of it'
}
