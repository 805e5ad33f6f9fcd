import { z } from 'zod'
import { channelRoutes } from './channel-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { describeApi } from './openapi.ts'
import { policyRoutes } from './policy-routes.ts'
import { type ApiRoute, defineRoute } from './route.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { walletRoutes, withdrawalRoutes } from './withdrawal-routes.ts'

/** The document is public. */
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

export const routes: readonly ApiRoute[] = [
  ...channelRoutes,
  ...walletRoutes,
  ...policyRoutes,
  ...withdrawalRoutes,
  ...depositRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  document,
]

const described = describeApi(routes)
