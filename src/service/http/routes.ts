import { z } from 'zod'
import { limitHeaders } from '../../http/key-check.ts'
import { describeApi } from '../../http/open-api.ts'
import { channelRoutes } from './channel-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { policyRoutes } from './policy-routes.ts'
import { problems } from './problem.ts'
import { type ApiRoute, defineRoute, ofPage, ours, type ServiceApi } from './route.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { walletRoutes, withdrawalRoutes } from './withdrawal-routes.ts'

/** The document is public. */
const descriptionRoute = defineRoute({
  method: 'get',
  path: '/openapi.json',
  scope: null,
  summary: 'Describe the API, as OpenAPI 3.1',
  description: ours,
  status: 200,
  answer: z.record(z.string(), z.unknown()).meta({ id: 'Document' }),
  refusals: [],
  run: () => Promise.resolve(apiDescription),
})

export const routes: readonly ApiRoute[] = [
  ...channelRoutes,
  ...walletRoutes,
  ...policyRoutes,
  ...withdrawalRoutes,
  ...depositRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  descriptionRoute,
]

function listed(description: string): string {
  return routes
    .filter((route) => route.description === description)
    .map(({ method, path }) => `- \`${method.toUpperCase()} ${path}\``)
    .join('\n')
}

function origins(): string {
  return `The interface page that this service implements defines these operations:

${listed(ofPage)}

It also defines the fields of channels, StableWallets and deposit addresses, the header \`X-API-KEY\` and the scopes
\`read\` and \`write\`. Everything else is an addition of this service and may differ in another one: all statuses,
which fields are required, the format of ids and the effect of a repeated id, the query and the response of the list of
deposits, all problems and their codes, all limits, policies, webhooks, and these operations:

${listed(ours)}`
}

/** As OpenAPI 3.1. */
export const apiDescription = describeApi<ServiceApi>(routes, {
  info: { title: 'Deposit service', version: '1', description: origins() },
  problems,
  securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
  // For a scheme other than OAuth, this array lists role names.
  security: (scope) => ({
    needs: { apiKey: [scope] },
    problems: ['key_missing', 'key_unknown', ...(scope === 'write' ? (['scope_insufficient'] as const) : [])],
  }),
  headers: limitHeaders,
})
