import type { Asset } from '../../../src/core/asset.ts'
import type { StatusMeaning } from '../../../src/provider/infer/hints.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import {
  type Flow,
  type MadeDeposit,
  type MadeWorld,
  makeWorld,
  type Random,
  randomOf,
  unitsOf,
  uuidOf,
} from './shapes.ts'

/** A made-up service: which fields it has, what they are called, where they are, and how it writes values. */

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

type FieldGroup = 'root' | 'in' | 'out' | 'owner'

type ShapeColumn = {
  /** Null for a field that the profile does not have. */
  field: string | null
  group: FieldGroup
  names: readonly string[]
  value: (deposit: MadeDeposit, step: number) => unknown
}

export type Shape = {
  seed: number
  /** The samples have everything that a proof may need. */
  isAmple: boolean
  world: MadeWorld
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

const flows: readonly Flow[] = [
  {
    forwarded: [
      ['detected', 'observed'],
      ['confirmed', 'confirmed'],
      ['converting', 'settling'],
      ['forwarding', 'settling'],
      ['settled', 'settled'],
    ],
    credited: [
      ['detected', 'observed'],
      ['confirmed', 'confirmed'],
      ['credited', 'settled'],
    ],
    stopped: [
      ['held', 'held'],
      ['failed', 'failed'],
      ['refunded', 'refunded'],
    ],
  },
  {
    forwarded: [
      ['PENDING', 'observed'],
      ['PROCESSING', 'settling'],
      ['COMPLETED', 'settled'],
    ],
    credited: [
      ['PENDING', 'observed'],
      ['COMPLETED', 'settled'],
    ],
    stopped: [
      ['REJECTED', 'held'],
      ['CANCELLED', 'failed'],
    ],
  },
  {
    forwarded: [
      ['new', 'observed'],
      ['accepted', 'observed'],
      ['processing', 'confirmed'],
      ['paid', 'settling'],
      ['done', 'settled'],
    ],
    credited: [
      ['new', 'observed'],
      ['accepted', 'observed'],
      ['done', 'settled'],
    ],
    stopped: [['returned', 'held']],
  },
  {
    forwarded: [
      ['S1', 'observed'],
      ['S4', 'confirmed'],
      ['S2', 'settling'],
      ['S9', 'settled'],
    ],
    credited: [
      ['S1', 'observed'],
      ['S4', 'confirmed'],
      ['S9', 'settled'],
    ],
    stopped: [['S7', 'failed']],
  },
  {
    forwarded: [
      ['tx_seen', 'observed'],
      ['tx_confirmed', 'confirmed'],
      ['swapping', 'settling'],
      ['paid_out', 'settled'],
    ],
    credited: [
      ['tx_seen', 'observed'],
      ['tx_confirmed', 'confirmed'],
      ['paid_out', 'settled'],
    ],
    stopped: [],
  },
  {
    forwarded: [
      ['observed', 'observed'],
      ['confirmed', 'confirmed'],
      ['screening', 'held'],
      ['sweeping', 'settling'],
      ['settled', 'settled'],
    ],
    credited: [
      ['observed', 'observed'],
      ['confirmed', 'confirmed'],
      ['settled', 'settled'],
    ],
    stopped: [['frozen', 'held']],
  },
  {
    forwarded: [
      ['10', 'observed'],
      ['20', 'confirmed'],
      ['30', 'settling'],
      ['40', 'settled'],
    ],
    credited: [
      ['10', 'observed'],
      ['20', 'confirmed'],
      ['40', 'settled'],
    ],
    stopped: [['90', 'failed']],
  },
  {
    forwarded: [
      ['DETECTED', 'observed'],
      ['CONFIRMED', 'confirmed'],
      ['FORWARDING', 'settling'],
      ['SETTLED', 'settled'],
    ],
    credited: [
      ['DETECTED', 'observed'],
      ['CONFIRMED', 'confirmed'],
      ['SETTLED', 'settled'],
    ],
    stopped: [],
  },
]

const networkStyles: readonly Readonly<Record<string, string>>[] = [
  { mainnet: 'mainnet', base: 'base', arbitrum: 'arbitrum', solana: 'solana' },
  { mainnet: 'ETHEREUM', base: 'BASE', arbitrum: 'ARBITRUM', solana: 'SOLANA' },
  { mainnet: '1', base: '8453', arbitrum: '42161', solana: '101' },
  { mainnet: 'n-3', base: 'n-1', arbitrum: 'n-2', solana: 'n-7' },
  // Misleading: names of other networks of the settings.
  { mainnet: 'base', base: 'arbitrum', arbitrum: 'solana', solana: 'mainnet' },
]

const assetCodes: Readonly<Record<string, string>> = {
  USDC: 'usd-coin',
  USDT: 'tether',
  ETH: 'ether',
  DAI: 'dai-stable',
  SOL: 'sol-coin',
}

const vocabulary: Readonly<Record<string, readonly string[]>> = {
  id: ['id', 'deposit_id', 'uuid', 'transferId', 'paymentReference'],
  status: ['status', 'state', 'phase', 'lifecycle'],
  createdAt: ['created_at', 'createdAt', 'opened', 'inserted_at'],
  occurredAt: ['updated_at', 'changedAt', 'last_update', 'modified_at'],
  'owner.id': ['id', 'owner_id', 'customerId', 'account_ref'],
  'owner.kind': ['type', 'owner_type', 'class', 'account_kind'],
  network: ['network', 'chain', 'blockchain', 'rail'],
  address: ['address', 'to', 'wallet', 'destination_address'],
  asset: ['contract', 'token', 'asset_contract', 'mint'],
  symbol: ['symbol', 'ticker', 'currency', 'coin'],
  amount: ['amount', 'value', 'qty', 'sum'],
  transaction: ['tx_hash', 'hash', 'txid', 'transactionId'],
  index: ['log_index', 'position', 'vout', 'transfer_index'],
  fee: ['fee', 'commission', 'service_fee', 'charge'],
}

const realistic = Object.values(vocabulary).flat()

const words = (of: string) => vocabulary[of] ?? [of]

type ShapeStyle = ReturnType<typeof styleOf>

function styleOf(random: Random) {
  const hasChannels = random.chance(0.9)
  return {
    naming: random.pick(['realistic', 'realistic', 'meaningless', 'misleading'] as const),
    nesting: random.pick(['flat', 'nested', 'nested', 'deep', 'list'] as const),
    amount: random.pick([
      'base-text',
      'base-number',
      'units-text',
      'units-number',
      'eighteen',
      'own-decimals',
    ] as const),
    time: random.pick(['iso', 'ms', 's', 'utc'] as const),
    asset: random.pick(['contract', 'both', 'symbol', 'code'] as const),
    networks: random.pick(networkStyles),
    flow: random.pick(flows),
    statusAsNumber: random.chance(0.5),
    absent: random.pick(['null', 'empty', 'missing'] as const),
    envelope: random.pick(['data', 'header', 'flat'] as const),
    kind: random.pick(['dotted', 'one', 'none'] as const),
    hasPing: random.chance(0.7),
    hasApi: random.chance(0.85),
    hasWebhooks: random.chance(0.92),
    isNewestFirst: random.chance(0.5),
    isOneNetworkColumn: random.chance(0.1),
    isEarlyDelivery: random.chance(0.4),
    isLateTransaction: random.chance(0.2),
    hasOwner: random.chance(0.8),
    hasIndex: random.chance(0.6),
    hasFee: random.chance(0.7),
    hasCreatedAt: random.chance(0.9),
    hasOccurredAt: random.chance(0.85),
    isNumericId: random.chance(0.12),
    distractors: random.pick([0, 0.08, 0.25, 0.6]),
    hasChannels,
    hasWallets: !hasChannels || random.chance(0.5),
  }
}

const absence = (style: ShapeStyle) => ({ null: null, empty: '', missing: undefined })[style.absent]

function amountWriter(style: ShapeStyle): (amount: bigint, asset: Asset) => unknown {
  return (amount, { decimals }) => {
    const units = unitsOf(amount, decimals)
    switch (style.amount) {
      case 'base-text':
      case 'own-decimals':
        return amount.toString()
      case 'base-number':
        return rawJSON(amount.toString())
      case 'units-text':
        return units
      case 'units-number':
        return rawJSON(units)
      case 'eighteen':
        return (amount * 10n ** BigInt(18 - decimals)).toString()
    }
  }
}

function timeWriter(style: ShapeStyle): (at: Date) => unknown {
  return (at) => {
    switch (style.time) {
      case 'iso':
        return at.toISOString()
      case 'utc':
        return at.toISOString().replace('T', ' ').replace('Z', '')
      case 'ms':
        return at.getTime()
      case 's':
        return Math.floor(at.getTime() / 1000)
    }
  }
}

const codeOf = ({ key }: Asset) => key.slice(key.indexOf('/') + 1)

function isDelivered(deposit: MadeDeposit, step: number, style: ShapeStyle): boolean {
  const last = deposit.steps.length - 1
  return deposit.delivery !== null && (step === last || (style.isEarlyDelivery && step === last - 1))
}

function legColumns(style: ShapeStyle, side: 'deposit' | 'settlement'): ShapeColumn[] {
  const group = side === 'deposit' ? 'in' : 'out'
  const amount = amountWriter(style)
  const assetOf = (deposit: MadeDeposit) =>
    side === 'deposit' ? deposit.asset : deposit.owner.forward?.asset
  const ofAsset = (write: (asset: Asset) => unknown) => (deposit: MadeDeposit) => {
    const asset = assetOf(deposit)
    return asset === undefined ? absence(style) : write(asset)
  }
  const column = (name: string, value: ShapeColumn['value'], field: string | null = `${side}.${name}`) => ({
    field,
    group: group as FieldGroup,
    names: words(name),
    value,
  })
  const contract = column(
    'asset',
    ofAsset((asset) => (codeOf(asset) === 'native' ? absence(style) : codeOf(asset))),
  )
  const symbol = {
    ...column(
      'asset',
      ofAsset(({ symbol: text }) => text),
    ),
    names: words('symbol'),
  }
  const code = {
    ...column(
      'asset',
      ofAsset(({ symbol: text }) => assetCodes[text]),
    ),
    names: words('symbol'),
  }
  const assets = { contract: [contract], both: [contract, symbol], symbol: [symbol], code: [code] }
  const isNetworkLeft = style.isOneNetworkColumn && side === 'settlement'
  return [
    ...assets[style.asset],
    ...(isNetworkLeft
      ? []
      : [
          column(
            'network',
            ofAsset(({ network }) => style.networks[network]),
          ),
        ]),
    column('address', (deposit) => {
      if (side === 'deposit') return deposit.payment.to
      return deposit.owner.forward?.recipient ?? deposit.owner.id
    }),
    column('amount', (deposit, step) => {
      if (side === 'deposit') return amount(deposit.payment.amount, deposit.asset)
      const { delivery } = deposit
      return delivery !== null && isDelivered(deposit, step, style)
        ? amount(delivery.transfer.amount, delivery.asset)
        : absence(style)
    }),
    column('transaction', (deposit, step) => {
      if (side === 'deposit')
        return style.isLateTransaction && step === 0 ? absence(style) : deposit.payment.tx
      return isDelivered(deposit, step, style) ? deposit.delivery?.transfer.tx : absence(style)
    }),
    ...(style.amount === 'own-decimals'
      ? [
          column(
            'decimals',
            ofAsset(({ decimals }) => decimals),
            null,
          ),
        ]
      : []),
    ...(side === 'deposit' && style.hasIndex ? [column('index', ({ payment }) => payment.index)] : []),
    ...(side === 'settlement' && style.hasFee
      ? [
          column('fee', (deposit, step) => {
            const { delivery } = deposit
            return delivery !== null && isDelivered(deposit, step, style)
              ? amount(delivery.fee, delivery.asset)
              : absence(style)
          }),
        ]
      : []),
  ]
}

function rootColumns(style: ShapeStyle): ShapeColumn[] {
  const time = timeWriter(style)
  const root = (field: string, value: ShapeColumn['value'], group: FieldGroup = 'root'): ShapeColumn => ({
    field,
    group,
    names: words(field),
    value,
  })
  const asStatus = (word: string) => (style.statusAsNumber && /^\d+$/.test(word) ? Number(word) : word)
  return [
    root('id', ({ id, number }) => (style.isNumericId ? 4000 + number : id)),
    root('status', ({ steps }, step) => asStatus(steps[step]?.word ?? '')),
    ...(style.hasCreatedAt ? [root('createdAt', ({ createdAt }) => time(createdAt))] : []),
    ...(style.hasOccurredAt
      ? [root('occurredAt', ({ steps }, step) => time(steps[step]?.at ?? new Date(0)))]
      : []),
    ...(style.hasOwner
      ? [
          root('owner.id', ({ owner }) => owner.id, 'owner'),
          root('owner.kind', ({ owner }) => (owner.kind === 'channel' ? 'CH' : 'SW'), 'owner'),
        ]
      : []),
  ]
}

/** Fields that look like others. */
function distractorColumns(random: Random, style: ShapeStyle): ShapeColumn[] {
  const time = timeWriter(style)
  const amount = amountWriter(style)
  const rate: Readonly<Record<string, bigint>> = { USDC: 1n, USDT: 1n, DAI: 1n, ETH: 2500n, SOL: 150n }
  const usd = (deposit: MadeDeposit) =>
    unitsOf(deposit.payment.amount * (rate[deposit.asset.symbol] ?? 1n), deposit.asset.decimals)
  const column = (name: string, group: FieldGroup, value: ShapeColumn['value']): ShapeColumn => ({
    field: null,
    group,
    names: [name],
    value,
  })
  const isSettled = ({ steps }: MadeDeposit, step: number) => steps[step]?.meaning === 'settled'
  const all = [
    column('internal_number', 'root', ({ number }) => number),
    column('user_id', 'root', ({ owner }) => owner.id.length * 7 + 3),
    column('block_number', 'in', ({ payment }) => Number(payment.height)),
    column('confirmations', 'in', (_deposit, step) => Math.min(step * 6, 12)),
    column('usd_value', 'in', usd),
    column('requested_amount', 'in', (deposit) =>
      amount(deposit.payment.amount - (deposit.number % 5 === 0 ? 1n : 0n), deposit.asset),
    ),
    column('gross_amount', 'in', (deposit) => amount(deposit.payment.amount, deposit.asset)),
    column('from_address', 'in', ({ payer }) => payer),
    column('sweep_hash', 'in', ({ sweepTx }) => sweepTx),
    column('gas_fee', 'out', ({ number }) => `0.00${(number % 7) + 1}`),
    column('screening', 'root', (_deposit, step) => (step === 0 ? 'pending' : 'clear')),
    column('is_final', 'root', (deposit, step) => isSettled(deposit, step)),
    column('status_group', 'root', (deposit, step) => (isSettled(deposit, step) ? 'CLOSED' : 'OPEN')),
    column('chain_family', 'in', ({ asset }) => (asset.network === 'solana' ? 'svm' : 'evm')),
    column('expires_at', 'root', ({ createdAt }) => time(new Date(createdAt.getTime() + 86_400_000))),
    column('block_time', 'in', ({ payment }) => time(payment.blockAt)),
    column('order_reference', 'root', ({ reference }) => reference),
    column('tenant', 'owner', () => 'acme'),
    column('parent_account', 'owner', ({ owner }) => `parent-${owner.kind}`),
    column('api_version', 'root', () => 'v2'),
    column('retry_count', 'root', (_deposit, step) => step % 2),
    column('home_network', 'owner', () => style.networks.base),
    column('fee_asset', 'out', (deposit) => deposit.owner.forward?.asset.symbol ?? absence(style)),
    column('memo', 'in', () => ''),
    column('short_code', 'root', ({ number }) => 100 + ((number * 37) % 900)),
  ]
  return all.filter(() => random.chance(style.distractors))
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
    return [
      entries.find(([name]) => name === '0')?.[1] ?? {},
      entries.find(([name]) => name === '1')?.[1] ?? {},
    ]
  return Object.fromEntries(entries)
}

export function makeShape(seed: number): Shape {
  const random = randomOf(seed)
  const style = styleOf(random)
  const networkNames = random
    .shuffle(['mainnet', 'base', 'arbitrum', 'solana'])
    .slice(0, random.pick([1, 2, 3, 4, 4]))
  const isSameNetwork = style.isOneNetworkColumn
  const world = makeWorld(random, {
    flow: style.flow,
    count: random.pick([1, 3, 6, 12, 20, 30]),
    isConverting: random.chance(0.5),
    hasWallets: style.hasWallets && !isSameNetwork,
    hasChannels: style.hasChannels || isSameNetwork,
    isSameNetwork,
    feeKind: random.pick(['share', 'share', 'fixed', 'none'] as const),
    hasBook: random.chance(0.9),
    networkNames,
    stopShare: random.pick([0, 0, 0.2]),
  })
  const hasLegs = style.hasChannels || isSameNetwork
  const columns = random.shuffle([
    ...rootColumns(style),
    ...legColumns(style, 'deposit'),
    ...(hasLegs ? legColumns(style, 'settlement') : []),
    ...distractorColumns(random, style).filter(({ group }) => hasLegs || group !== 'out'),
  ])
  const paths = pathsOf(random, columns, style)
  const recordOf = (deposit: MadeDeposit, step: number) =>
    build(columns.map((column) => [paths.get(column) ?? [], column.value(deposit, step)] as const))
  const { deposits, facts } = world
  const isAmple =
    deposits.length >= 12 &&
    networkNames.length >= 3 &&
    facts.hints.owners.size > 0 &&
    [style.hasWebhooks, style.hasApi, style.hasPing].every(Boolean)
  return {
    seed,
    isAmple,
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

type SampleContext = {
  style: ShapeStyle
  world: MadeWorld
  recordOf: (deposit: MadeDeposit, step: number) => Plain
}

function samplesOf(random: Random, { style, world, recordOf }: SampleContext) {
  const time = timeWriter(style)
  const isLate = random.chance(0.4)
  const isCounted = random.chance(0.1)
  const hasAttempt = random.chance(0.2)
  const hasObject = random.chance(0.15)
  const events = world.deposits
    .flatMap((deposit) => deposit.steps.map((state, step) => ({ deposit, step, ...state })))
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
  const around = (number: number, at: Date, kind: string) => ({
    id: isCounted ? number : uuidOf(random),
    ...(style.kind === 'none' ? {} : { type: kind }),
    at: time(new Date(at.getTime() + (isLate ? random.int(1, 40) * 1000 : 0))),
    ...(hasAttempt && { attempt_id: uuidOf(random) }),
    ...(hasObject && { object: kind === 'ping' ? 'endpoint' : 'deposit' }),
    livemode: true,
  })
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
    around(0, new Date(), 'ping'),
    style.envelope === 'flat' ? {} : { endpoint: { url: 'u' } },
  )
  const listed = style.isNewestFirst ? world.deposits.toReversed() : world.deposits
  const records = listed.map((deposit) => recordOf(deposit, deposit.steps.length - 1))
  const answer = random.pick([
    records,
    { items: records, next_cursor: 'x' },
    { result: { rows: records }, page: 1 },
  ])
  const parse = (document: unknown) => parseLossless(JSON.stringify(document))
  const hasApi = style.hasApi || !style.hasWebhooks
  return {
    payloads: style.hasWebhooks ? [...(style.hasPing ? [ping] : []), ...payloads].map(parse) : [],
    answers: hasApi ? [parse(answer)] : [],
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
