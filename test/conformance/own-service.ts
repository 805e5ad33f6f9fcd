import { mkdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { parseAddress } from '../../src/core/asset.ts'
import { formatAmount, parseAmount } from '../../src/core/money.ts'
import { type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { sandboxSecrets, startSandboxService } from '../../src/sandbox/sandbox-service.ts'
import type { TlsSettings } from '../../src/service/settings.ts'
import { emptyDatabase } from '../support/postgres.ts'
import type { Command } from './commands.ts'
import { httpCall } from './http-call.ts'
import { freshId } from './identities.ts'
import type { Subject } from './subject.ts'

const log = pino({ level: 'silent' })
const pace = { blockMs: 200, slotMs: 100 }

/** Of a certificate for this machine that signed itself. */
const certificates = join(import.meta.dirname, '../service/http/fixtures')
const read = (name: string): string => readFileSync(join(certificates, name), 'utf8')
const tls = { cert: read('localhost.pem'), key: read('localhost-key.pem') }

/** The deposit service of this project, once in the clear and once over TLS, on the same real chains. */
export async function startOwnServices(
  stack: AsyncDisposableStack,
): Promise<Record<'http' | 'https', Subject>> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-conformance-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const chains = await startChains({ folder, ...pace, log })
  stack.defer(() => chains.stop())
  const { networks } = chains
  // One after the other: both are given money by the same faucet.
  const http = await startOne({ networks, folder: join(folder, 'http') }, stack)
  const https = await startOne({ networks, folder: join(folder, 'https'), tls }, stack)
  return { http, https }
}

type Own = { networks: readonly SandboxNetwork[]; folder: string; tls?: TlsSettings }

/** With everything that its operator can lend. Each has a seed of its own, and so addresses of its own. */
async function startOne({ networks, folder, ...secure }: Own, stack: AsyncDisposableStack): Promise<Subject> {
  mkdirSync(folder)
  const secrets = sandboxSecrets(folder)
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  const port = await freePort()
  const wanted = { networks, secrets, databaseUrl: database.url, webhooks: [], faults: null, port, log }
  const service = await startSandboxService({ ...wanted, ...secure })
  stack.defer(() => service.stop())
  const ca = secure.tls?.cert ?? null
  const subject = { url: service.url, key: secrets.writeKey, readKey: secrets.readKey, ca }
  return {
    ...subject,
    commands: {
      pay: payer(networks),
      balance: teller(networks),
      hold: (id) => send(subject, 'PUT', { path: `/v1/channels/${id}/policy`, body: { hold: true } }),
      withdraw: (...words) => withdraw(subject, words),
      webhook: (url) => send(subject, 'POST', { path: '/v1/webhook-endpoints', body: { url } }),
    },
    amount: '5',
    others: [
      { network: 'mainnet', asset: 'ETH', amount: '0.01' },
      { network: 'solana', asset: 'SOL', amount: '0.1' },
      { network: 'arbitrum', asset: 'USDT', amount: '7.25' },
    ],
    withinMs: 60_000,
  }
}

type Reached = Pick<Subject, 'url' | 'key' | 'ca'>

function withdraw(subject: Reached, words: readonly string[]): Promise<string> {
  const [wallet = '', network, amount = '', recipient] = words
  const body = { id: freshId(), network, recipient, amount: parseAmount(amount, 6).toString() }
  return send(subject, 'POST', { path: `/v1/stable-wallets/${wallet}/withdrawals`, body })
}

/** A call of ours, for what the interface does not show. */
async function send(
  { url, key, ca }: Reached,
  method: 'POST' | 'PUT',
  { path, body }: { path: string; body: object },
): Promise<string> {
  const { status, text } = await httpCall({
    url: url + path,
    method,
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(ca === null ? {} : { ca }),
  })
  if (status >= 300) throw new Error(`${path} was answered with ${status}: ${text}`)
  return text
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
