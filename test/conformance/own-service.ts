import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { parseAddress } from '../../src/core/asset.ts'
import { formatAmount, parseAmount } from '../../src/core/money.ts'
import { type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { startSandboxService } from '../../src/sandbox/sandbox-service.ts'
import { sandboxSecrets } from '../../src/sandbox/secrets.ts'
import { emptyDatabase } from '../support/postgres.ts'
import type { Command } from './commands.ts'
import type { Subject } from './subject.ts'

const log = pino({ level: 'silent' })
const pace = { blockMs: 200, slotMs: 100 }

/** The deposit service of this project on real chains, with everything that its operator can lend. */
export async function startOwnService(stack: AsyncDisposableStack): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-conformance-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  const chains = await startChains({ folder, ...pace, log })
  stack.defer(() => chains.stop())
  const { networks } = chains
  const secrets = sandboxSecrets(folder)
  const port = await freePort()
  const wanted = { networks, secrets, databaseUrl: database.url, webhooks: [], faults: null, port, log }
  const service = await startSandboxService(wanted)
  stack.defer(() => service.stop())
  return {
    url: service.url,
    key: secrets.writeKey,
    readKey: secrets.readKey,
    ca: null,
    commands: { pay: payer(networks), balance: teller(networks) },
    amount: '5',
    others: [
      { network: 'mainnet', asset: 'ETH', amount: '0.01' },
      { network: 'solana', asset: 'SOL', amount: '0.1' },
      { network: 'arbitrum', asset: 'USDT', amount: '7.25' },
    ],
    withinMs: 60_000,
  }
}

function payer(networks: readonly SandboxNetwork[]): Command {
  return async (...words) => {
    const [name = '', symbol = '', amount = '', address = ''] = words
    const { network, asset } = find(networks, name, symbol)
    const to = parseAddress(network.family, address)
    return network.pay({ asset: asset.key, to, amount: parseAmount(amount, asset.decimals) })
  }
}

function teller(networks: readonly SandboxNetwork[]): Command {
  return async (name = '', symbol = '', address = '') => {
    const { network, asset } = find(networks, name, symbol)
    return formatAmount(
      await network.balance(parseAddress(network.family, address), asset.key),
      asset.decimals,
    )
  }
}

function find(networks: readonly SandboxNetwork[], name: string, symbol: string) {
  const network = networks.find((one) => one.name === name)
  const asset = network?.assets.find((one) => one.symbol === symbol)
  if (network === undefined || asset === undefined) throw new Error(`there is no ${symbol} on ${name}`)
  return { network, asset }
}
