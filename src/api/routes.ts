import { z } from 'zod'
import { serviceOf } from '../core/evidence.ts'
import { limitHeaders } from '../http/key-check.ts'
import { describeApi } from '../http/open-api.ts'
import { streamTimes } from '../store/streams.ts'
import { bookRoutes } from './book-routes.ts'
import { caseRoutes } from './case-routes.ts'
import { isoOf } from './deposit-documents.ts'
import { depositRoutes } from './deposit-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { journalRoutes } from './journal-routes.ts'
import { mismatchRoutes } from './mismatch-routes.ts'
import { problems } from './problem.ts'
import { defineRoute, type ReadApi, type ReadKind, type ReadRoute } from './route.ts'
import { healthReport, listedNetwork, listedService, readListSchema } from './schemas.ts'

const servicesRoute = defineRoute({
  method: 'get',
  path: '/v1/services',
  scope: 'any',
  summary: 'List deposit services',
  description:
    'Those of the settings that the token may see, with the time at which their API was last read.',
  status: 200,
  answer: readListSchema(listedService),
  refusals: [],
  run: async (api) => {
    const times = await api.read(streamTimes)
    const data = api
      .services()
      .filter(({ name }) => isServiceSeen(api, name))
      .map(({ name, isPaused }) => ({
        name,
        is_paused: isPaused,
        read_at: isoOf(times.get(name === 'default' ? 'poll' : `poll/${name}`) ?? null),
      }))
    return { data, as_of: api.asOf.toISOString() }
  },
})

function isServiceSeen({ token: { services, owners } }: ReadApi, name: string): boolean {
  if (services !== null && !services.includes(name)) return false
  return owners === null || owners.some((id) => serviceOf(id) === name)
}

const networksRoute = defineRoute({
  method: 'get',
  path: '/v1/networks',
  scope: 'any',
  summary: 'List networks',
  description: 'Those of the settings, with their assets and the time at which they were last read.',
  status: 200,
  answer: readListSchema(listedNetwork),
  refusals: [],
  run: async (api) => {
    const times = await api.read(streamTimes)
    const data = api.networks.map(({ name, family, chainId, assets, explorer }) => ({
      name,
      family,
      chain_id: chainId,
      assets: assets.map(({ key, symbol, decimals }) => ({ asset: key, symbol, decimals })),
      explorer: explorer ?? null,
      read_at: isoOf(times.get(`scan/${name}`) ?? null),
    }))
    return { data, as_of: api.asOf.toISOString() }
  },
})

const healthRoute = defineRoute({
  method: 'get',
  path: '/v1/health',
  scope: 'any',
  summary: 'Show the health',
  description: 'What `/readyz` of the ops port reports. 200 also if the daemon is not ready.',
  status: 200,
  answer: healthReport,
  refusals: [],
  run: async (api) => ({ ...(await api.health()), as_of: api.asOf.toISOString() }),
})

const descriptionRoute = defineRoute({
  method: 'get',
  path: '/v1/openapi.json',
  scope: null,
  summary: 'Describe the API, as OpenAPI 3.1',
  description: 'Needs no token.',
  status: 200,
  answer: z.record(z.string(), z.unknown()).meta({ id: 'Document' }),
  refusals: [],
  run: () => Promise.resolve(readApiDescription),
})

export const readRoutes: readonly ReadRoute[] = [
  ...depositRoutes,
  ...mismatchRoutes,
  ...eventRoutes,
  ...journalRoutes,
  ...caseRoutes,
  ...bookRoutes,
  servicesRoute,
  networksRoute,
  healthRoute,
  descriptionRoute,
]

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier answer: 304 if nothing but `as_of` has changed.',
  schema: { type: 'string' },
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'At most 200 printable ASCII characters without spaces. Within 24 hours, the same call with the same key has no second effect and gets the same answer.',
  schema: { type: 'string' },
}

const etag = {
  ETag: {
    required: true,
    description: 'Of everything but `as_of`.',
    schema: { type: 'string' },
  },
}

/** As OpenAPI 3.1. */
export const readApiDescription = describeApi<ReadKind>(readRoutes, {
  info: {
    title: 'depositd',
    version: '1',
    description: 'What depositd knows of deposits, mismatches and the books, and work on mismatches.',
  },
  problems,
  securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  // For a scheme other than OAuth, this array lists role names.
  security: (scope) => ({
    needs: { token: scope === 'any' ? [] : [scope] },
    problems: [
      'token_missing',
      'token_unknown',
      'unavailable',
      ...(scope === 'any' ? [] : (['scope_insufficient'] as const)),
    ],
  }),
  headers: limitHeaders,
  beside: ({ scope, ...route }) => ({
    parameters: isTagged(route) ? [ifNoneMatch] : isWriting(route) ? [idempotencyKey] : [],
    responses: isTagged(route)
      ? { 304: { description: 'Not modified', headers: { ...(scope !== null && limitHeaders), ...etag } } }
      : {},
  }),
})

type RoutePlace = Pick<ReadRoute, 'method' | 'path'>

/** A bundle is made anew each time. */
function isTagged(route: RoutePlace): boolean {
  return !isWriting(route) && !route.path.endsWith('/evidence')
}

function isWriting({ method }: RoutePlace): boolean {
  return method !== 'get'
}
