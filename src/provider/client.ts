import { z } from 'zod'
import type { HttpRequest } from './http-call.ts'
import { bodyOf, createServiceCall, type ProviderOutcome, type ProviderSettings } from './service-call.ts'

export type ProviderClient = {
  createChannel: (channel: ChannelRequest) => Promise<CreatedOwner>
  createStableWallet: (wallet: { id: string }) => Promise<CreatedOwner>
}

export type ChannelRequest = {
  id: string
  forwardNetwork: string
  forwardAsset: string
  forwardRecipient: string
}

export type CreatedOwner = { id: string; addresses: readonly { network: string; address: string }[] }

/**
 * Creates channels and StableWallets at the service. Every call throws Fault `remote_failed`, which says what the
 * service answered, where the answer cannot be used.
 */
export function createProviderClient(
  settings: ProviderSettings,
  observe: (outcome: ProviderOutcome) => void = () => undefined,
): ProviderClient {
  const call = createServiceCall(settings, observe)
  const create = async <Body>(path: string, body: object, schema: z.ZodType<Body>) => {
    const request: HttpRequest = { method: 'POST', path, body }
    return bodyOf(request, await call(request), schema)
  }
  return {
    createChannel({ id, forwardNetwork, forwardAsset, forwardRecipient }) {
      const body = {
        id,
        forward_network: forwardNetwork,
        forward_asset: forwardAsset,
        forward_recipient: forwardRecipient,
      }
      return create('/v1/channels', body, channelSchema)
    },
    async createStableWallet(wallet) {
      const { stable_wallet: created } = await create('/v1/stable-wallets', wallet, walletSchema)
      return { id: created.id, addresses: created.deposit_addresses }
    },
  }
}

const addresses = z.array(z.object({ network: z.string(), address: z.string() })).min(1)
const channelSchema = z.object({ id: z.string(), addresses })
const walletSchema = z.object({ stable_wallet: z.object({ id: z.string(), deposit_addresses: addresses }) })
