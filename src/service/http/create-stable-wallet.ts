import { z } from 'zod'
import { depositAddresses, keepOwner } from '../owners.ts'
import { idText, parseRequest } from './parse.ts'
import type { Reply } from './problem.ts'
import type { Api } from './routes.ts'

const stableWalletRequest = z.strictObject({ id: idText })

/** The same request again gets the same answer. */
export async function createStableWallet({ db, keyring, networks }: Api, body: unknown): Promise<Reply> {
  const { id } = parseRequest(stableWalletRequest, body)
  const owner = await keepOwner(db, keyring, {
    kind: 'stable_wallet',
    id,
    forward_network: null,
    forward_asset: null,
    forward_recipient: null,
  })
  const stableWallet = { id: owner.id, deposit_addresses: depositAddresses(owner, networks) }
  return { status: 201, body: { stable_wallet: stableWallet } }
}
