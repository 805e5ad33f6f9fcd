import { z } from 'zod'
import { channelRoutes } from './channel-routes.ts'
import { depositActionRoutes } from './deposit-action-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { describeApi } from './openapi.ts'
import { policyRoutes } from './policy-routes.ts'
import { type ApiRoute, defineRoute } from './route.ts'
import { stableWalletRoutes } from './stable-wallet-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { withdrawalRoutes } from './withdrawal-routes.ts'

/** Needs no key: it tells nothing that is not published. */
const document = defineRoute({
  method: 'get',
  path: '/openapi.json',
  scope: null,
  summary: 'Describe the API, as OpenAPI 3.1',
  origin: 'ours',
  status: 200,
  answer: z.record(z.string(), z.unknown()).meta({ id: 'Document' }),
  refusals: [],
  run: () => Promise.resolve(described),
})

/** Every call, in the order of the documents. */
export const routes: readonly ApiRoute[] = [
  ...channelRoutes,
  ...stableWalletRoutes,
  ...policyRoutes,
  ...withdrawalRoutes,
  ...depositRoutes,
  ...depositActionRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  document,
]

const described = describeApi(routes)
