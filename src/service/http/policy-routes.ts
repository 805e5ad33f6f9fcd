import { isAddress as isSolanaAddress } from '@solana/kit'
import { isAddress as isEvmAddress } from 'viem'
import { z } from 'zod'
import type { NetworkSettings } from '../../core/asset.ts'
import { timeText } from '../../http/read-request.ts'
import {
  deletePolicy,
  getPolicy,
  type OwnerPolicy,
  type PolicyOutcome,
  putPolicy,
} from '../deposits/policy.ts'
import type { OwnerKind } from '../tables.ts'
import { refusal } from './problem.ts'
import { readAsset, readNetwork } from './request-values.ts'
import { type ApiRoute, defineRoute, ours } from './route.ts'
import { baseUnits, idText } from './schemas.ts'

const parameters = z.strictObject({ id: idText })

function routesOf(kind: OwnerKind, path: string): ApiRoute[] {
  const name = kind === 'channel' ? 'channel' : 'StableWallet'
  const common = { path, description: ours, parameters, status: 200, answer: policyAnswer } as const
  const report = (id: string, outcome: PolicyOutcome) => {
    if (outcome.kind === 'owner_unknown') throw refusal('not_found', `there is no ${name} ${id}`)
    if (outcome.kind === 'none') return { policy: null, updated_at: null }
    return { policy: outcome.policy, updated_at: outcome.updatedAt.toISOString() }
  }
  return [
    defineRoute({
      ...common,
      method: 'get',
      scope: 'read',
      summary: `Retrieve the policy of a ${name}`,
      refusals: ['not_found'],
      run: async ({ db }, { parameters: { id } }) => report(id, await getPolicy(db, { kind, id })),
    }),
    defineRoute({
      ...common,
      method: 'put',
      scope: 'write',
      summary: `Put the policy of a ${name}, replacing any other`,
      body: policySchema,
      refusals: ['not_found', 'network_unknown', 'asset_unknown', 'address_invalid'],
      run: async ({ db, networks }, { parameters: { id }, body }) => {
        checkPolicy(networks, body)
        return report(id, await putPolicy(db, { kind, id }, body))
      },
    }),
    defineRoute({
      ...common,
      method: 'delete',
      scope: 'write',
      summary: `Delete the policy of a ${name}`,
      refusals: ['not_found'],
      run: async ({ db }, { parameters: { id } }) => report(id, await deletePolicy(db, { kind, id })),
    }),
  ]
}

const entriesMax = 100
const word = z.string().min(1).max(128)
const assetName = z.strictObject({ network: word, asset: word })

function listingOf<Item extends z.ZodType>(item: Item) {
  const entries = z.array(item).min(1).max(entriesMax)
  return z.union([z.strictObject({ allow: entries }), z.strictObject({ deny: entries })])
}

const policySchema = z
  .strictObject({
    hold: z.boolean().optional(),
    minimum_amounts: z
      .array(assetName.extend({ amount: baseUnits.max(78) }))
      .max(entriesMax)
      .optional(),
    assets: listingOf(assetName).optional(),
    senders: listingOf(word).optional(),
    otherwise: z.enum(['hold', 'refund']).optional(),
  })
  .meta({
    id: 'Policy',
    description:
      'Overrides the forwarding or crediting of deposits. `hold` holds every deposit. A deposit below a minimum or rejected by a list is held, or refunded if `otherwise` is `refund`. Amounts are base units.',
  }) satisfies z.ZodType<OwnerPolicy>

const policyAnswer = z
  .strictObject({ policy: policySchema.nullable(), updated_at: timeText.nullable() })
  .meta({ id: 'PolicyAnswer', description: '`policy` is null if there is none.' })

/** A rule with a typo would never apply. @throws Fault `request_refused` */
function checkPolicy(networks: readonly NetworkSettings[], policy: OwnerPolicy): void {
  const { minimum_amounts: minimums = [], assets, senders } = policy
  const named = [
    ...minimums.map((item, place) => ({ item, place: `/minimum_amounts/${place}` })),
    ...placed('/assets', assets),
  ]
  for (const { item, place } of named) {
    const network = readNetwork(networks, { text: item.network, pointer: `${place}/network` })
    readAsset(network, { text: item.asset, pointer: `${place}/asset` })
  }
  const wrong = placed('/senders', senders).filter(({ item }) => !isAnyAddress(item))
  if (wrong.length === 0) return
  const errors = wrong.map(({ place }) => ({
    pointer: place,
    detail: 'is not an address, or has a wrong checksum',
  }))
  const detail = errors
    .map(({ pointer }) => `${pointer} is not an address, or has a wrong checksum`)
    .join('; ')
  throw refusal('address_invalid', detail.slice(0, 1000), { errors })
}

type AllowDenyBody<Item> = { allow: readonly Item[] } | { deny: readonly Item[] }

function placed<Item>(
  place: string,
  listing: AllowDenyBody<Item> | undefined,
): { item: Item; place: string }[] {
  if (listing === undefined) return []
  const [name, items] = 'allow' in listing ? ['allow', listing.allow] : ['deny', listing.deny]
  return items.map((item, index) => ({ item, place: `${place}/${name}/${index}` }))
}

function isAnyAddress(text: string): boolean {
  return text.startsWith('0x') ? isEvmAddress(text) : isSolanaAddress(text)
}

export const policyRoutes: readonly ApiRoute[] = [
  ...routesOf('channel', '/v1/channels/{id}/policy'),
  ...routesOf('stable_wallet', '/v1/stable-wallets/{id}/policy'),
]
