import type { Run } from './fact.ts'
import { freshRecipient, networks } from './identities.ts'
import { must, NotChecked, shown } from './outcome.ts'
import { balanceOf, eventually, payChannels, payWallet, untilListed } from './payments.ts'
import { lent, readKeyOf, type Subject } from './subject.ts'

/** Deposits of USDC on every network, and of every other asset, to one wallet. */
function depositEverything(subject: Subject) {
  const { amount, others } = subject
  return payWallet(subject, [...networks.map((network) => ({ network, asset: 'USDC', amount })), ...others])
}

/** The record of each deposit to a wallet names USDC, also where something else was paid. */
export async function mustReceiveAsUsdc(run: Run): Promise<void> {
  if (run.subject.others.length === 0) throw new NotChecked('needs --other, a payment that is converted')
  await mustReceiveEverywhere(run)
}

export async function mustReceiveEverywhere(run: Run): Promise<void> {
  const { addresses } = await run.once(depositEverything)
  for (const address of new Set(addresses)) {
    const record = await untilListed(run.subject, address)
    must(/\bUSDC\b/.test(record), `the record does not speak of USDC: ${shown(record)}`)
  }
}

/**
 * What was deposited on one network can be taken on each of the others at once. How is not shown, so a command
 * does it.
 */
export async function mustSpendEverywhere({ subject }: Run): Promise<void> {
  if (subject.commands.withdraw === undefined) throw new NotChecked('needs --withdraw')
  const trial = { network: 'base', asset: 'USDC', amount: subject.amount }
  const { wallet } = await payWallet(subject, [trial])
  // A part for each network, and some left over for fees.
  const part = `${Number(subject.amount) / 8}`
  const recipients = networks.map((network) => ({ network, address: freshRecipient(network) }))
  await Promise.all(
    recipients.map(({ network, address }) =>
      eventually(subject, `a withdrawal on ${network}`, () =>
        lent(subject, 'withdraw', wallet.id, network, part, address).then(
          () => true,
          () => null,
        ),
      ),
    ),
  )
  for (const { network, address } of recipients) {
    await eventually(
      subject,
      `the arrival of a withdrawal on ${network}`,
      async () => (await balanceOf(subject, network, address)) > 0n || null,
    )
  }
}

/** A deposit that was made is in the collection. */
export async function mustListDeposits(run: Run): Promise<void> {
  for (const { address } of await run.once(payChannels)) await untilListed(run.subject, address)
}

/** The read key sees every deposit that the write key sees. */
export async function mustReadEverything(run: Run): Promise<void> {
  const key = readKeyOf(run.subject)
  for (const { address } of await run.once(payChannels)) await untilListed(run.subject, address, key)
}
