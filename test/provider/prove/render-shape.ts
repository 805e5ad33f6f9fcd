import type { StatusMeaning } from '../../../src/provider/infer/hints.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import { type Random, randomOf } from './random.ts'
import {
  distractorColumns,
  isDelivered,
  legColumns,
  rootColumns,
  type ShapeColumn,
  timeWriter,
} from './service-columns.ts'
import { assetCodes, realistic, type ShapeStyle, styleOf } from './service-style.ts'
import { type MadeDeposit, type MadeWorld, makeWorld, uuidOf } from './shapes.ts'

/** A made-up service: where its fields are, and the webhooks and answers that it sends. */

export type Shape = {
  seed: number
  /** Plain words, no fields that look alike, and samples of everything. */
  isPlain: boolean
  world: MadeWorld
  order: 'newest-first' | 'oldest-first'
  payloads: readonly unknown[]
  answers: readonly unknown[]
  /** Fields of the profile, each with the paths that state it. */
  truth: ReadonlyMap<string, ReadonlySet<string>>
  /** By path: `base`, `units`, or other decimals. */
  units: ReadonlyMap<string, string>
  timeUnit: string
  statuses: ReadonlyMap<string, StatusMeaning>
  kinds: ReadonlyMap<string, 'deposit' | 'ignored'>
  networkWords: ReadonlyMap<string, string>
  assetWords: ReadonlyMap<string, string>
  recordOf: (deposit: MadeDeposit, step: number) => unknown
}

const syllables = ['ba', 'do', 'ki', 'lu', 'me', 'no', 'pi', 'ra', 'su', 'to', 've', 'zo']

/** Of one object, each name once. */
function nameColumns(
  random: Random,
  columns: readonly ShapeColumn[],
  style: ShapeStyle,
): Map<ShapeColumn, string> {
  const taken = new Set<string>()
  return new Map(
    columns.map((column) => {
      let name = ''
      const scope = style.nesting === 'flat' ? '' : column.group
      do {
        if (style.naming === 'meaningless')
          name = Array.from({ length: 3 }, () => random.pick(syllables)).join('')
        else if (style.naming === 'misleading') name = random.pick(realistic)
        else name = random.pick(column.names)
        if (taken.has(`${scope}.${name}`)) name += random.pick(['_x', '_2', 'Info', '_y'])
      } while (taken.has(`${scope}.${name}`))
      taken.add(`${scope}.${name}`)
      return [column, name]
    }),
  )
}

const groupNames = [
  { in: 'source', out: 'destination' },
  { in: 'incoming', out: 'outgoing' },
  { in: 'deposit', out: 'payout' },
  { in: 'alpha', out: 'beta' },
  { in: 'settlement', out: 'payment' },
]

function pathsOf(
  random: Random,
  columns: readonly ShapeColumn[],
  style: ShapeStyle,
): Map<ShapeColumn, string[]> {
  const names = nameColumns(random, columns, style)
  const groups = random.pick(groupNames)
  const before = style.nesting === 'deep' ? ['attributes', 'body'] : []
  const listed = { in: ['legs', '0'], out: ['legs', '1'] }
  return new Map(
    columns.map((column) => {
      const { group } = column
      const name = names.get(column) ?? ''
      if (isOfPayout(column, style)) return [column, [...before, 'payouts', '*', name]]
      if (style.nesting === 'flat') {
        const isLeg = group === 'in' || group === 'out'
        return [column, [isLeg && style.naming === 'realistic' ? `${groups[group]}_${name}` : name]]
      }
      if (group === 'root') return [column, [...before, name]]
      if (group === 'owner') return [column, [...before, 'holder', name]]
      return [column, [...before, ...(style.nesting === 'list' ? listed[group] : [groups[group]]), name]]
    }),
  )
}

const isOfPayout = ({ group, field }: ShapeColumn, { hasPayouts }: ShapeStyle) =>
  hasPayouts && group === 'out' && field !== 'settlement.fee'

/** The deposit as each of its payouts states it. */
function payoutsOf(deposit: MadeDeposit, step: number, style: ShapeStyle): MadeDeposit[] {
  const { delivery } = deposit
  if (delivery === null || !isDelivered(deposit, step, style)) return []
  return delivery.parts.map((transfer) => ({ ...deposit, delivery: { ...delivery, transfer } }))
}

type Plain = { [name: string]: unknown }

function build(entries: readonly (readonly [string[], unknown])[]): Plain {
  const root: Plain = {}
  for (const [path, value] of entries) {
    if (value === undefined) continue
    let node = root
    for (const name of path.slice(0, -1)) node = (node[name] ??= {}) as Plain
    node[path.at(-1) ?? ''] = value
  }
  return withLists(root) as Plain
}

/** `legs: { 0: …, 1: … }` is a list. */
function withLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'rawJSON' in value) return value
  const entries = Object.entries(value).map(([name, one]) => [name, withLists(one)] as const)
  if (entries.length > 0 && entries.every(([name]) => /^\d$/.test(name)))
    return Array.from(
      { length: Math.max(...entries.map(([name]) => Number(name))) + 1 },
      (_, place) => entries.find(([name]) => Number(name) === place)?.[1] ?? {},
    )
  return Object.fromEntries(entries)
}

function worldOf(random: Random, style: ShapeStyle): MadeWorld {
  const { isPlain } = style
  const networkCount = isPlain ? random.int(3, 4) : random.pick([1, 2, 3, 4, 4])
  const networkNames = random.shuffle(['mainnet', 'base', 'arbitrum', 'solana']).slice(0, networkCount)
  const isSameNetwork = style.isOneNetworkColumn
  return makeWorld(random, {
    flow: style.flow,
    count: isPlain ? random.int(20, 40) : random.pick([1, 3, 6, 12, 20, 30]),
    isConverting: isPlain ? !style.hasFee : random.chance(0.5),
    hasWallets: style.hasWallets && !isSameNetwork,
    hasChannels: style.hasChannels || isSameNetwork,
    channels: isPlain ? [6, 9] : [2, 6],
    isSameNetwork,
    feeKind: isPlain ? 'share' : random.pick(['share', 'share', 'fixed', 'none'] as const),
    hasBook: isPlain || random.chance(0.9),
    networkNames,
    isFailureOnChain: random.chance(0.5),
    hasPayouts: style.hasPayouts,
    stopShare: random.pick([0, 0, 0.2, 0.5]),
  })
}

export function makeShape(seed: number): Shape {
  const random = randomOf(seed)
  const style = styleOf(random)
  const world = worldOf(random, style)
  const hasLegs = style.hasChannels || style.isOneNetworkColumn
  const columns = random.shuffle([
    ...rootColumns(style),
    ...legColumns(style, 'deposit'),
    ...(hasLegs ? legColumns(style, 'settlement') : []),
    ...distractorColumns(random, style).filter(({ group }) => hasLegs || group !== 'out'),
  ])
  const paths = pathsOf(random, columns, style)
  const recordOf = (deposit: MadeDeposit, step: number) =>
    build(
      columns.flatMap((column) => {
        const path = paths.get(column) ?? []
        if (!path.includes('*')) return [[path, column.value(deposit, step)] as const]
        return payoutsOf(deposit, step, style).map(
          (one, place) =>
            [path.map((name) => (name === '*' ? `${place}` : name)), column.value(one, step)] as const,
        )
      }),
    )
  return {
    seed,
    isPlain: style.isPlain,
    world,
    recordOf,
    ...truthOf(style, columns, paths),
    ...samplesOf(random, { style, world, recordOf }),
  }
}

function truthOf(
  style: ShapeStyle,
  columns: readonly ShapeColumn[],
  paths: ReadonlyMap<ShapeColumn, string[]>,
) {
  const truth = new Map<string, Set<string>>()
  for (const column of columns) {
    if (column.field === null) continue
    const path = (paths.get(column) ?? []).join('.')
    truth.set(column.field, (truth.get(column.field) ?? new Set()).add(path))
  }
  if (style.isOneNetworkColumn) truth.set('settlement.network', truth.get('deposit.network') ?? new Set())
  const unit = style.amount === 'eighteen' ? '18' : style.amount.startsWith('units') ? 'units' : 'base'
  const amountPaths = ['deposit.amount', 'settlement.amount', 'settlement.fee'].flatMap((field) => [
    ...(truth.get(field) ?? []),
  ])
  const { forwarded, credited, stopped } = style.flow
  return {
    truth,
    units: new Map(amountPaths.map((path) => [path, unit])),
    timeUnit: style.time,
    statuses: new Map([...forwarded, ...credited, ...stopped]),
    networkWords: new Map(Object.entries(style.networks).map(([name, word]) => [word, name])),
    assetWords: new Map(Object.entries(assetCodes).map(([symbol, word]) => [word, symbol])),
  }
}

function parse(document: unknown): unknown {
  return parseLossless(JSON.stringify(document))
}

type SampleContext = {
  style: ShapeStyle
  world: MadeWorld
  recordOf: (deposit: MadeDeposit, step: number) => Plain
}

function eventWriter(random: Random, style: ShapeStyle) {
  const time = timeWriter(style)
  const isLate = random.chance(0.4)
  const mayBeAlike = (share: number) => !style.isPlain && random.chance(share)
  const [isCounted, hasAttempt, hasObject] = [mayBeAlike(0.1), mayBeAlike(0.2), mayBeAlike(0.15)]
  return (number: number, at: Date, kind: string): Plain => ({
    id: isCounted ? number : uuidOf(random),
    ...(style.kind === 'none' ? {} : { type: kind }),
    at: time(new Date(at.getTime() + (isLate ? random.int(1, 40) * 1000 : 0))),
    ...(hasAttempt && { attempt_id: uuidOf(random) }),
    ...(hasObject && { object: kind === 'ping' ? 'endpoint' : 'deposit' }),
    livemode: true,
  })
}

function samplesOf(random: Random, { style, world, recordOf }: SampleContext) {
  const events = world.deposits
    .flatMap((deposit) => deposit.steps.map((state, step) => ({ deposit, step, ...state })))
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
  const around = eventWriter(random, style)
  const kindOf = (word: string) => (style.kind === 'one' ? 'deposit.changed' : `deposit.${word}`)
  const wrap = (about: Plain, record: Plain) => {
    if (style.envelope === 'data') return { ...about, data: record }
    if (style.envelope === 'header') return { event: about, payload: { deposit: record } }
    return {
      ...Object.fromEntries(Object.entries(about).map(([name, value]) => [`event_${name}`, value])),
      ...record,
    }
  }
  const payloads = events.map(({ deposit, step, word, at }, number) =>
    wrap(around(number + 1, at, kindOf(word)), recordOf(deposit, step)),
  )
  const ping = wrap(
    around(0, new Date('2026-02-01T00:00:00Z'), 'ping'),
    style.envelope === 'flat' ? {} : { endpoint: { url: 'u' } },
  )
  const listed = style.isNewestFirst ? world.deposits.toReversed() : world.deposits
  const records = listed.map((deposit) => recordOf(deposit, deposit.steps.length - 1))
  const answer = random.pick([
    records,
    { items: records, next_cursor: 'x' },
    { result: { rows: records }, page: 1 },
  ])
  const hasApi = style.hasApi || !style.hasWebhooks
  return {
    payloads: style.hasWebhooks ? [...(style.hasPing ? [ping] : []), ...payloads].map(parse) : [],
    answers: hasApi ? [parse(answer)] : [],
    order: style.isNewestFirst ? ('newest-first' as const) : ('oldest-first' as const),
    kinds: new Map<string, 'deposit' | 'ignored'>([
      ['ping', 'ignored'],
      ...events.map(({ word }): [string, 'deposit'] => [kindOf(word), 'deposit']),
    ]),
  }
}

export function envelopePaths(path: string): Readonly<Record<string, string>> {
  const prefix = path === 'data' ? '' : path === '' ? 'event_' : 'event.'
  return { id: `${prefix}id`, kind: `${prefix}type`, occurredAt: `${prefix}at` }
}
