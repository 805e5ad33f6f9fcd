import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import type { Address } from '../../src/core/asset.ts'
import { decide } from '../../src/core/decide.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import { groupOf } from '../support/any-evidence.ts'
import {
  at,
  claim,
  credit,
  delivery,
  payment,
  policy,
  usdcOnArbitrum,
  usdcOnBase,
  walletAddress,
  walletApproval,
} from '../support/evidence.ts'
import { readText, root } from './pages.ts'

const path = 'docs/what-is-owed.md'
const page = readText(path)

const forwarded = [claim(), payment(), delivery()]
const credited = [
  claim({
    owner: walletApproval.owner,
    deposit: { address: walletAddress },
    settlement: { network: 'stable-wallet', address: 'savings' as Address, asset: credit, tx: null },
  } as Parameters<typeof claim>[0]),
  payment({ to: walletAddress }),
]
const short = [claim(), payment(), delivery({ amount: 79_900_000n as Amount })]
/** In the order of the page. */
const cases: readonly Observation[][] = [forwarded, forwarded, credited, forwarded, short]

const environment = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key',
  WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  RPC_BASE: 'https://base.example',
  DEPOSITD_CONFIG: 'depositd.yaml',
}

function journalsOf(observations: readonly Observation[], yaml: string): readonly Journal[] {
  const { contras } = parseSettings(environment, () => yaml)
  const rules = { policy, routes: [], senders: new Set<string>(), contras }
  return decide(groupOf(observations, []), rules, at(600)).deposits.flatMap(({ journals }) => journals)
}

const places: Readonly<Record<string, string>> = {
  [usdcOnBase]: 'USDC on Base',
  [usdcOnArbitrum]: 'USDC on Arbitrum',
  [credit]: 'USDC in StableWallets',
}

type Line = { name: string; debit: bigint; credit: bigint }

function accountsText(journals: readonly Journal[]): string {
  const lines = journals.flatMap(({ kind, transfers }) =>
    transfers.flatMap(({ debit, credit: from, asset, amount }) => [
      { name: kind, debit: amount, credit: 0n, account: debit, asset },
      { name: kind, debit: 0n, credit: amount, account: from, asset },
    ]),
  )
  const blocks = Map.groupBy(lines, ({ account, asset }) => `${shown(account)}, ${places[asset] ?? asset}`)
  return [...blocks].map(([title, block]) => [title, ...accountLines(block)].join('\n')).join('\n\n')
}

/** Addresses and contracts are long, and differ for each reader. */
function shown(account: string): string {
  return account.replace(/:0x\w+$/, ':0x…').replace(/^(trading:\w+)\/0x\w+$/, '$1/0x…')
}

function accountLines(lines: readonly Line[]): string[] {
  const balance = lines.reduce((sum, { debit, credit: from }) => sum + debit - from, 0n)
  const last = { name: 'balance', debit: balance > 0n ? balance : 0n, credit: balance < 0n ? -balance : 0n }
  const end = balance === 0n ? '  balance             0' : row(last)
  return [...lines.map(row), end]
}

function row({ name, debit, credit: from }: Line): string {
  return `  ${name.padEnd(12)}${units(debit).padStart(8)} | ${units(from).padStart(7)}`.trimEnd()
}

function units(amount: bigint): string {
  return amount === 0n ? '' : (Number(amount) / 1e6).toFixed(2)
}

/** `vitest run test/docs/what-is-owed.test.ts -u` writes the accounts into the page. */
test('each case of the page has the accounts that its settings give', async () => {
  const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)]
  expect(blocks).toHaveLength(cases.length)
  let answered = page
  for (const [place, [whole, yaml = '']] of blocks.entries()) {
    const text = accountsText(journalsOf(cases[place] ?? [], yaml))
    answered = answered.replace(whole, () => `\`\`\`yaml\n${yaml}\`\`\`\n\n\`\`\`text\n${text}\n\`\`\``)
  }
  await expect(answered).toMatchFileSnapshot(join(root, path))
})
