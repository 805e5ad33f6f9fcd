import type { NetworkSettings } from '../../chain/port.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { Scope } from '../settings.ts'
import type { ServiceDatabase } from '../tables.ts'
import { createChannel } from './create-channel.ts'
import { createStableWallet } from './create-stable-wallet.ts'
import { listDeposits } from './list-deposits.ts'
import type { Reply } from './problem.ts'

/** What the operations use. */
export type Api = { db: ServiceDatabase; keyring: Keyring; networks: readonly NetworkSettings[] }

export type Route = {
  method: 'get' | 'post'
  path: string
  scope: Scope
  answer: (api: Api, body: unknown, query: unknown) => Promise<Reply>
}

export const routes: readonly Route[] = [
  { method: 'post', path: '/v1/channels', scope: 'write', answer: createChannel },
  { method: 'post', path: '/v1/stable-wallets', scope: 'write', answer: createStableWallet },
  { method: 'get', path: '/v1/proxies/deposits', scope: 'read', answer: listDeposits },
]
