import { createHmac } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { webhookSecretsSetting } from '../../src/config/settings.ts'
import { assetCode } from '../../src/core/asset.ts'
import {
  type Claim,
  defaultService,
  idAmongServices,
  type ObservedChainTransfer,
  type ServiceName,
} from '../../src/core/evidence.ts'
import { type WithdrawalClaim, walletHeader } from '../../src/core/withdrawal-claim.ts'
import { createServiceReader, readerOfServices } from '../../src/provider/read-evidence.ts'
import { appendChainTransfers } from '../../src/store/chain/chain-transfers.ts'
import { inTransaction } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { storeWebhooks } from '../../src/store/webhooks.ts'
import { type Books, openBooks } from './books.ts'
import { type Ran, runCommand } from './command.ts'
import { arbitrum, base, liquidity, usdcOnArbitrum, usdcOnBase, usdtOnBase } from './evidence.ts'
import { judgingEnvironment } from './judging-environment.ts'
import { ownEvent, ownRecord, vocabulary } from './own-payloads.ts'
import { ownProfile } from './profile.ts'
import { signStandardWebhook } from './sign-webhook.ts'

/** Books whose evidence came as a service sends it, and a folder with the settings that they were made by. */
export type EvidenceWorld = AsyncDisposable & {
  books: Books
  folder: string
  secret: string
  environment: Record<string, string>
  /** Stores a signed webhook as the intake does, and what repeats it. */
  post: (claim: Claim, more?: PostedWith) => Promise<void>
  list: (claim: Claim) => Promise<void>
  withdraw: (claim: WithdrawalClaim) => Promise<void>
  see: (...chainTransfers: ObservedChainTransfer[]) => Promise<void>
  run: (line: string, environment?: Record<string, string>) => Promise<Ran>
}

type PostedWith = { headers?: Record<string, string>; copiesAt?: Date[]; service?: ServiceName }

/** @param named a second service, whose ids are those of the default one after `NAME/` */
export async function openEvidenceWorld(named?: ServiceName): Promise<EvidenceWorld> {
  const services = [defaultService, ...(named === undefined ? [] : [named])]
  const readers = services.map((name) => [name, createServiceReader(ownProfile, vocabulary, name)] as const)
  const books = await openBooks({ readClaim: readerOfServices(new Map(readers)) })
  const folder = mkdtempSync(join(tmpdir(), 'depositd-evidence-'))
  const path = join(folder, 'settings.yaml')
  const auth = { header: 'Authorization', secret: 'SERVICE_API_NAMED_KEY' }
  const section = { url: 'https://named.example', auth, webhooks: { scheme: 'github' } }
  const others = named === undefined ? {} : { services: { [named]: section } }
  writeFileSync(path, stringify({ ...settings, ...others }))
  const environment = judgingEnvironment(books.url, {
    DEPOSITD_CONFIG: path,
    ...(named !== undefined && {
      SERVICE_API_NAMED_KEY: 'key of the named one',
      [webhookSecretsSetting(named)]: secretOfNamed,
    }),
  })
  const { WEBHOOK_SECRETS: secret } = environment
  let events = 0
  return {
    books,
    folder,
    secret,
    environment,
    async post(claim, { headers = {}, copiesAt = [], service = defaultService } = {}) {
      const id = `evt_${++events}`
      const event = { ...ownEvent(claim, { type: `deposit.${claim.status}`, status: claim.status }), id }
      const body = Buffer.from(JSON.stringify(event))
      const at = claim.receivedAt
      const signed =
        service === defaultService ? signStandardWebhook({ secret, id, body, at }) : signGithub(body)
      const sourceKey = idAmongServices(service, id)
      const arrival = { source: 'webhook', service, sourceKey, body, receivedAt: at, copiesAt } as const
      await storeWebhooks(books.db, [{ ...arrival, headers: { ...signed, ...headers } }])
    },
    async list(claim) {
      const body = Buffer.from(JSON.stringify(ownRecord(claim, claim.status)))
      const row = {
        source: 'api',
        sourceKey: body.toString(),
        body,
        headers: {},
        receivedAt: claim.receivedAt,
      } as const
      await appendInbox(books.db, [row])
    },
    async withdraw({ wallet, withdrawalId, status, network, to, amount, tx, occurredAt, receivedAt }) {
      const stated = { id: withdrawalId, status, network, recipient: to, amount: `${amount}`, decimals: 6 }
      const record = { ...stated, transaction: tx, updated_at: occurredAt.toISOString() }
      const body = Buffer.from(JSON.stringify(record))
      const headers = { [walletHeader]: wallet }
      await appendInbox(books.db, [{ source: 'api', sourceKey: body.toString(), body, headers, receivedAt }])
    },
    see: (...chainTransfers) =>
      inTransaction(books.db, (tx) => appendChainTransfers(tx, chainTransfers)).then(() => undefined),
    run: (line, own = environment) => runCommand(line, own),
    async [Symbol.asyncDispose]() {
      await books[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export const secretOfNamed = 'secret of the named service'

function signGithub(body: Buffer): Record<string, string> {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', secretOfNamed).update(body).digest('hex')}` }
}

const coin = (symbol: string, key: typeof usdcOnBase) => ({ symbol, contract: assetCode(key), decimals: 6 })

const settings = {
  networks: [
    {
      name: base,
      family: 'evm',
      chainId: 8453,
      assets: [coin('USDC', usdcOnBase), coin('USDT', usdtOnBase)],
    },
    { name: arbitrum, family: 'evm', chainId: 42_161, assets: [coin('USDC', usdcOnArbitrum)] },
  ],
  service: { senders: { arbitrum: [liquidity] } },
}
