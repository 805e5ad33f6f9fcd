import { setTimeout as sleep } from 'node:timers/promises'
import { Broken, must, shown } from './outcome.ts'
import { addressOn, type Channel, openChannel, openWallet, type Wallet } from './owners.ts'
import { call, lent, mustSucceed, type Subject, type Trial } from './subject.ts'

const askEveryMs = 500

/** Asks until the answer is not null. @throws Broken where that takes longer than real time may. */
export async function eventually<Found>(
  { withinMs }: Subject,
  what: string,
  ask: () => Promise<Found | null>,
): Promise<Found> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const found = await ask()
    if (found !== null) return found
    if (Date.now() > deadline) throw new Broken(`${what} did not happen within ${withinMs / 1000} s`)
    await sleep(askEveryMs)
  }
}

/** Pays to the owner's address on the network of the trial, and returns that address. */
export async function pay(subject: Subject, owner: Channel | Wallet, trial: Trial): Promise<string> {
  const address = addressOn(trial.network, owner)
  await lent(subject, 'pay', trial.network, trial.asset, trial.amount, address)
  return address
}

/** What an address holds of USDC, with as many digits as any token has behind the point. */
export async function balanceOf(subject: Subject, network: string, address: string): Promise<bigint> {
  const text = await lent(subject, 'balance', network, 'USDC', address)
  const [, whole = '', fraction = ''] = /(?:^|\s)(\d+)(?:\.(\d{1,18}))?$/.exec(text) ?? []
  must(whole !== '', `--balance wrote no decimal number, but ${shown(text)}`)
  return BigInt(whole + fraction.padEnd(18, '0'))
}

/** Waits until the recipient of a channel holds more than before, and returns how much. */
export async function untilArrived(
  subject: Subject,
  { network, recipient }: Channel,
  before = 0n,
): Promise<bigint> {
  return eventually(subject, `the arrival of USDC at ${recipient} on ${network}`, async () => {
    const balance = await balanceOf(subject, network, recipient)
    return balance > before ? balance : null
  })
}

/** Every deposit that the list answers: what surrounds and what is in a record is not shown. */
export async function listDeposits(subject: Subject, key = subject.key): Promise<unknown[]> {
  const answer = await call(subject, { path: '/v1/proxies/deposits', key })
  mustSucceed(answer, 'reading deposits')
  const list = findList(answer.body)
  must(list !== null, `no collection is in the answer: ${shown(answer.text)}`)
  return list
}

/** The first array that holds objects, or is empty, wherever in the document it is. */
function findList(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || value === null) return null
  for (const inner of Object.values(value)) {
    const found = findList(inner)
    if (found !== null) return found
  }
  return null
}

/** The text of the record that names the address, in whatever field and spelling. */
export async function untilListed(subject: Subject, address: string, key = subject.key): Promise<string> {
  return eventually(subject, `a record of the deposit to ${address}`, async () => {
    const records = (await listDeposits(subject, key)).map((record) => JSON.stringify(record))
    return records.find((text) => text.toLowerCase().includes(address.toLowerCase())) ?? null
  })
}

const usdc = (network: string, amount: string): Trial => ({ network, asset: 'USDC', amount })

/** Each network pays, and each is forwarded to, once. */
const routes = [
  ['mainnet', 'solana'],
  ['solana', 'base'],
  ['base', 'arbitrum'],
  ['arbitrum', 'mainnet'],
] as const

export type Paid = { channel: Channel; trial: Trial; address: string }

/** Pays USDC over every route, each to a channel of its own. */
export function payChannels(subject: Subject): Promise<Paid[]> {
  return Promise.all(routes.map(([from, to]) => payChannel(subject, to, usdc(from, subject.amount))))
}

/** Pays each of the other assets to a channel of its own. */
export function payOthers(subject: Subject): Promise<Paid[]> {
  return Promise.all(
    subject.others.map((trial) =>
      payChannel(subject, trial.network === 'solana' ? 'arbitrum' : 'solana', trial),
    ),
  )
}

async function payChannel(subject: Subject, to: string, trial: Trial): Promise<Paid> {
  const channel = await openChannel(subject, to)
  return { channel, trial, address: await pay(subject, channel, trial) }
}

/** Pays every trial to one new StableWallet, and returns the addresses that were paid. */
export async function payWallet(
  subject: Subject,
  trials: readonly Trial[],
): Promise<{ wallet: Wallet; addresses: string[] }> {
  const wallet = await openWallet(subject)
  return { wallet, addresses: await Promise.all(trials.map((trial) => pay(subject, wallet, trial))) }
}
