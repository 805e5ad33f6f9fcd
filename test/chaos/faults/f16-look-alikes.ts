import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { rich } from '../../support/anvil.ts'
import { fee, placeFeeToken } from '../../support/fee-token.ts'
import { depositor } from '../../support/reported-networks.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'
import type { Fault } from '../fault.ts'
import { bookedOf } from '../own-books.ts'
import { type OwnChain, startOwnChain } from '../own-chain.ts'
import { mustBeSame, untilSame } from '../until-same.ts'

/** As the address that is paid looks where its middle is left out. */
const lookalike = '0x0000000000000000beef000000000000000a11ce'

/** `fake` has the symbol, the name and the code of the token that counts. */
type Stage = OwnChain & { fake: TestToken; keeping: Hex; boasting: Hex }

/** Transfers that are none, tokens that are others, and tokens that do not move what they say. */
export const lookAlikes: Fault = {
  name: 'F16',
  title: 'a fake token, transfers of nothing, to look-alikes and to oneself, and fees on transfer',
  ground: 'own',
  async strike(world, random) {
    await using stack = new AsyncDisposableStack()
    const tokens: Pick<Stage, 'keeping' | 'boasting'>[] = []
    const chain = await startOwnChain({ world, random, stack }, async ({ anvil }) => {
      const keeping = await placeFeeToken(anvil, rich.address, 'net')
      const boasting = await placeFeeToken(anvil, rich.address, 'gross')
      await anvil.client.impersonateAccount({ address: depositor })
      tokens.push({ keeping, boasting })
      const others = [
        { symbol: 'KEEP', contract: keeping },
        { symbol: 'BOAST', contract: boasting },
      ]
      return [{ others }]
    })
    const [placed = { keeping: '0x', boasting: '0x' }] = tokens
    const stage: Stage = { ...chain, ...placed, fake: await deployToken(chain.anvil, 'USDC') }
    await stage.makeFinal()
    const acts = [payFake, payNothing, paySelf, failToPay, keepFee, boast]
    for (const act of random.shuffled(acts)) {
      await act(stage)
      await stage.mayKill()
    }
    await stage.hold()
  },
}

type Call = { from?: Hex; name: 'transfer' | 'transferFrom'; args: readonly unknown[] }

function call({ anvil }: OwnChain, address: Hex, { from, name, args }: Call): Promise<Hex> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: name, args: args as never })
  return anvil.client.sendTransaction({ account: from ?? rich, to: address, data, gas: 200_000n })
}

/** What was read as final of transactions, as asset and amount. */
async function seen({ ground }: Stage, txs: readonly Hex[]): Promise<string[]> {
  const rows = await ground.rows<{ line: string }>(
    `select distinct concat(asset, ' ', amount) as line from chain_transfer
     where split_part(transfer, '/', 2) = any($1) and stage = 'final'`,
    [txs],
  )
  return rows.map(({ line }) => line)
}

/** Everything is read, and nothing was seen of these, nor booked. */
async function mustBeNothing(stage: Stage, txs: readonly Hex[]): Promise<void> {
  await stage.makeFinal(4)
  mustBeSame('what was seen of what is nothing', await seen(stage, txs), [])
  mustBeSame('what is booked of what is nothing', await bookedOf(stage.ground, 'base', txs), [])
}

const openKinds = async ({ ground }: Stage, tx: Hex): Promise<string[]> => {
  const rows = await ground.rows<{ kind: string }>(
    `select mismatch.kind from mismatch join deposit using (group_id)
     where deposit.tx = $1 and mismatch.cleared_at is null order by 1`,
    [tx],
  )
  return rows.map(({ kind }) => kind)
}

/** It is nothing, whatever the service takes it for. */
async function payFake(stage: Stage): Promise<void> {
  const { anvil, fake, ground, token, pay } = stage
  const amount = 90_001n
  const unclaimed = await fake.send(depositor, amount)
  const asItself = await fake.send(depositor, amount)
  const asReal = await fake.send(depositor, amount)
  const real = await pay()
  await anvil.mine()
  for (const [tx, contract] of [
    [asItself, fake.address],
    [asReal, token.address],
  ] as const) {
    const [log] = (await anvil.client.getTransactionReceipt({ hash: tx })).logs
    ground.credited.push({ network: 'base', tx, index: String(log?.logIndex), contract, amount })
  }
  const problem = `unknown asset base/${fake.address}`
  const drift = `select detail ->> 'problem' as problem from mismatch where kind = 'schema_drift'`
  await untilSame('the fake that the service credits is told', () => ground.rows(drift), [{ problem }])
  await mustBeNothing(stage, [unclaimed, asItself, asReal])
  await untilSame('the real one is booked', () => bookedOf(ground, 'base', [real]), ['deposit'])
}

async function payNothing(stage: Stage): Promise<void> {
  const { anvil, fake, keeping, token } = stage
  const txs = [
    await token.send(depositor, 0n),
    await call(stage, token.address, { name: 'transferFrom', args: [depositor, lookalike, 0n] }),
    await call(stage, token.address, { name: 'transferFrom', args: [lookalike, depositor, 0n] }),
    await call(stage, keeping, { name: 'transfer', args: [lookalike, 50n] }),
    await anvil.client.sendTransaction({ to: depositor, value: 0n }),
    await anvil.client.sendTransaction({ to: lookalike, value: 5n }),
    await token.send(lookalike, 5n),
    await fake.send(lookalike, 5n),
  ]
  await mustBeNothing(stage, txs)
}

async function paySelf(stage: Stage): Promise<void> {
  const { anvil, ground, token } = stage
  const paid = await anvil.client.sendTransaction({ to: depositor, value: 10n ** 18n })
  await token.send(depositor, 77_077n)
  await stage.makeFinal()
  const self = { account: depositor, to: depositor, value: 7n, gas: 21_000n } as const
  const txs = [
    await call(stage, token.address, { from: depositor, name: 'transfer', args: [depositor, 70n] }),
    await anvil.client.sendTransaction(self),
  ]
  await mustBeNothing(stage, txs)
  await untilSame('what was paid is booked', () => bookedOf(ground, 'base', [paid]), ['deposit'])
}

/** It is nothing, and is told of where the service takes it for a payment. */
async function failToPay(stage: Stage): Promise<void> {
  const { anvil, ground, token } = stage
  const amount = 90_002n
  await anvil.client.setCode({ address: depositor, bytecode: '0xfe' })
  const coin = await anvil.client.sendTransaction({ to: depositor, value: amount, gas: 100_000n })
  await anvil.mine()
  await anvil.client.setCode({ address: depositor, bytecode: '0x' })
  const tokens = await call(stage, token.address, {
    name: 'transferFrom',
    args: [lookalike, depositor, amount],
  })
  await anvil.mine()
  for (const hash of [coin, tokens]) {
    const { status } = await anvil.client.getTransactionReceipt({ hash })
    mustBeSame('how it ended', status, 'reverted')
  }
  ground.credited.push({ network: 'base', tx: coin, index: 'native', contract: null, amount })
  await stage.makeFinal()
  await untilSame('what failed is told', () => openKinds(stage, coin), ['tx_failed'])
  await mustBeNothing(stage, [coin, tokens])
}

/** What arrived is booked. */
async function keepFee(stage: Stage): Promise<void> {
  const { ground, keeping } = stage
  const tx = await call(stage, keeping, { name: 'transfer', args: [depositor, 500n] })
  await stage.makeFinal()
  await untilSame('what arrived is booked', () => bookedOf(ground, 'base', [tx]), ['deposit'])
  mustBeSame('what arrived', await seen(stage, [tx]), [`base/${keeping} ${500n - fee}`])
}

/** It says more than it moved, which only the balance tells. */
async function boast(stage: Stage): Promise<void> {
  const { boasting } = stage
  const tx = await call(stage, boasting, { name: 'transfer', args: [depositor, 500n] })
  await stage.makeFinal()
  mustBeSame('what it says', await seen(stage, [tx]), [`base/${boasting} 500`])
}
