import type { DecidedDeposit, GroupVerdict, LegFacts } from '../../src/core/decide.ts'
import type { VerdictReason } from '../../src/core/explaining/verdict-reason.ts'
import {
  at,
  channelAddress,
  credit,
  liquidity,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  usdtOnBase,
  walletAddress,
} from './evidence.ts'

const names: readonly (readonly [string, string])[] = [
  [usdcOnBase, 'base/USDC'],
  [usdtOnBase, 'base/USDT'],
  [usdcOnArbitrum, 'arbitrum/USDC'],
  [credit, 'credit/USDC'],
  [channelAddress, 'channel'],
  [walletAddress, 'wallet'],
  [recipient, 'recipient'],
  [liquidity, 'liquidity'],
  ...['pay', 'pay2', 'forward', 'forward2', 'other'].map((name) => [txId(name), name] as const),
]

/** Everything a decision says, one fact per line, with names for addresses and minutes for times. */
export function decisionText({ deposits, unmatchedDeliveries, recheckAt }: GroupVerdict): string {
  const lines = [
    ...deposits.flatMap(depositLines),
    ...unmatchedDeliveries.map(({ mismatch }) => `unmatched ${fields(mismatch)}`),
    ...(recheckAt === null ? [] : [`again at ${text(recheckAt)}`]),
  ]
  return lines.map(withNames).join('\n')
}

/** Why each part of a decision is as it is. */
export function reasonLines({ reasons }: { reasons: readonly VerdictReason[] }): string[] {
  return reasons.map(({ what, ...reason }) => withNames(`${what}: ${fields(reason)}`))
}

function withNames(line: string): string {
  return names
    .reduce((named, [value, name]) => named.replaceAll(value, name), line)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => text(new Date(time)))
}

function depositLines(one: DecidedDeposit): string[] {
  const { evidence, verdict, payment, delivery, milestones, journals, steps } = one
  const { state, matrix, mismatches, searches, ...rest } = verdict
  const known = one.id === null ? '' : ` known as ${[one.id, ...one.absorbed].join(', then ')}`
  return [
    `deposit ${evidence.serviceId ?? 'without a service id'}${known}: ${state}`,
    `  payment ${legText(payment)}`,
    `  delivery ${legText(delivery)}`,
    ...Object.entries(matrix).map(([leg, cells]) => `  ${leg}: ${fields(cells)}`),
    ...mismatches.map((mismatch) => `  mismatch ${fields(mismatch)}`),
    ...journals.map((journal) => `  journal ${fields(journal)}`),
    ...searches.map((search) => `  search ${fields(search)}`),
    `  verdict ${fields(rest)}`,
    `  milestones ${fields(milestones)}`,
    `  lags ${one.lags.map(({ stage, network, seconds }) => `${stage} ${network} ${seconds} s`).join(', ')}`,
    `  steps ${fields(steps)}`,
    ...one.unseen.map((named) => `  not seen ${fields(named)}`),
  ]
}

function legText(leg: LegFacts | null): string {
  if (leg === null) return 'none'
  const { network, address, asset, amount, tx, fee } = leg
  return fields({ network, address, asset, amount, tx, fee })
}

/** The fields that have a value. */
function fields(value: object | null): string {
  if (value === null) return 'none'
  const shown = Object.entries(value).filter(([, field]) => field !== null && field !== undefined)
  return shown.map(([name, field]) => `${name}=${text(field)}`).join(' ')
}

function text(value: unknown): string {
  if (value instanceof Date) return `minute ${(value.getTime() - at(0).getTime()) / 60_000}`
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`
  if (typeof value === 'object' && value !== null) return `{${fields(value)}}`
  return String(value)
}
