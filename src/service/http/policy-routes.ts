import { z } from 'zod'
import { deletePolicy, getPolicy, type PolicyOutcome, putPolicy } from '../deposits/policies.ts'
import type { OwnerKind } from '../tables.ts'
import { checkPolicy, policyAnswer, policySchema } from './policy-schema.ts'
import { refusal } from './problem.ts'
import { type ApiRoute, defineRoute } from './route.ts'
import { idText } from './schemas.ts'

const parameters = z.strictObject({ id: idText })

/** The calls of one kind of owner: each channel and each StableWallet has at most one policy. */
export const policyRoutes: readonly ApiRoute[] = [
  ...routesOf('channel', '/v1/channels/{id}/policy'),
  ...routesOf('stable_wallet', '/v1/stable-wallets/{id}/policy'),
]

function routesOf(kind: OwnerKind, path: string): ApiRoute[] {
  const name = kind === 'channel' ? 'channel' : 'StableWallet'
  const common = { path, origin: 'ours', parameters, status: 200, answer: policyAnswer } as const
  const tell = (id: string, outcome: PolicyOutcome) => {
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
      run: async ({ db }, { parameters: { id } }) => tell(id, await getPolicy(db, { kind, id })),
    }),
    defineRoute({
      ...common,
      method: 'put',
      scope: 'write',
      summary: `Put the policy of a ${name}, in the place of any other`,
      body: policySchema,
      refusals: ['not_found', 'network_unknown', 'asset_unknown', 'address_invalid'],
      run: async ({ db, networks }, { parameters: { id }, body }) => {
        checkPolicy(networks, body)
        return tell(id, await putPolicy(db, { kind, id }, body))
      },
    }),
    defineRoute({
      ...common,
      method: 'delete',
      scope: 'write',
      summary: `Delete the policy of a ${name}`,
      refusals: ['not_found'],
      run: async ({ db }, { parameters: { id } }) => tell(id, await deletePolicy(db, { kind, id })),
    }),
  ]
}
