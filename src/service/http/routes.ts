import { z } from 'zod'
import { channelRoutes } from './channel-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { policyRoutes } from './policy-routes.ts'
import { describeProblem, type ProblemCode, problemSchema, statusOf } from './problem.ts'
import { type ApiRoute, defineRoute } from './route.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { walletRoutes, withdrawalRoutes } from './withdrawal-routes.ts'

/** The document is public. */
const descriptionRoute = defineRoute({
  method: 'get',
  path: '/openapi.json',
  scope: null,
  summary: 'Describe the API, as OpenAPI 3.1',
  origin: 'ours',
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

type OpenApiObject = Record<string, unknown>

function describeApi(): OpenApiObject {
  const paths = Object.groupBy(routes, ({ path }) => path)
  const document = {
    openapi: '3.1.1',
    info: { title: 'Deposit service', version: '1', description: origins() },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, here = []]) => [
        path,
        Object.fromEntries(here.map((route) => [route.method, describeRoute(route)])),
      ]),
    ),
    components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } } },
  }
  return withComponents(document)
}

function problemsOf({ scope, parameters, body, refusals }: ApiRoute): ProblemCode[] {
  const implied: ProblemCode[] = [
    ...(scope === null ? [] : (['key_missing', 'key_unknown', 'rate_limited'] as const)),
    ...(scope === 'write' ? (['scope_insufficient'] as const) : []),
    'request_invalid',
    ...(Object.keys(parameters.shape).length === 0 ? [] : (['http_malformed'] as const)),
    ...(body === null ? [] : bodyProblems),
    'internal',
  ]
  return [...new Set([...implied, ...refusals])]
}

const bodyProblems: readonly ProblemCode[] = [
  'request_timeout',
  'body_too_large',
  'content_type_unsupported',
  'body_malformed',
  'body_too_deep',
  'key_repeated',
]

function describeRoute(route: ApiRoute): OpenApiObject {
  const { scope, summary, origin, parameters, query, body, status, answer } = route
  const placed = [...parametersOf(parameters, 'path'), ...parametersOf(query, 'query')]
  return {
    operationId: operationId(summary),
    summary,
    description:
      origin === 'page'
        ? 'Defined by the interface page.'
        : 'An addition of this service; the interface page does not define it.',
    // For a scheme other than OAuth, this array lists role names.
    security: scope === null ? [] : [{ apiKey: [scope] }],
    ...(placed.length > 0 && { parameters: placed }),
    ...(body !== null && {
      requestBody: {
        required: !isOptional(body),
        content: { 'application/json': { schema: jsonSchema(body, 'input') } },
      },
    }),
    responses: {
      [status]: {
        description: 'Success',
        ...(scope !== null && { headers: limitHeaders }),
        ...(answer !== null && {
          content: { 'application/json': { schema: jsonSchema(answer, 'output') } },
        }),
      },
      ...refusalResponses(route),
    },
  }
}

function parametersOf(schema: z.ZodObject, place: 'path' | 'query'): OpenApiObject[] {
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !isOptional(field),
    // A number in a query is text, but described as a number.
    schema: jsonSchema(field, 'output'),
  }))
}

const count = { type: 'integer', minimum: 0 }

const limitHeaders = {
  'RateLimit-Limit': { required: true, description: 'Maximum number of requests at once.', schema: count },
  'RateLimit-Remaining': { required: true, description: 'Remaining requests.', schema: count },
  'RateLimit-Reset': {
    required: true,
    description: 'Seconds until the limit is fully restored.',
    schema: count,
  },
}

const retryAfter = { required: true, description: 'Seconds to wait.', schema: count }

function isOptional(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, undefined).success
}

function refusalResponses(route: ApiRoute): OpenApiObject {
  const byStatus = Object.groupBy(problemsOf(route), (code) => String(statusOf(code)))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes = []]) => [
      status,
      {
        ...(Number(status) === statusOf('rate_limited') && { headers: { 'Retry-After': retryAfter } }),
        description: codes.map((code) => `\`${code}\`: ${describeProblem(code)}.`).join(' '),
        content: {
          'application/problem+json': {
            schema: {
              allOf: [jsonSchema(problemSchema, 'output')],
              properties: { status: { const: Number(status) }, code: { enum: codes } },
            },
          },
        },
      },
    ]),
  )
}

function jsonSchema(schema: z.core.$ZodType, io: 'input' | 'output'): OpenApiObject {
  return z.toJSONSchema(schema, {
    io,
    // `format` states this; zod's pattern has 300 characters.
    override: ({ jsonSchema: written }) => {
      if (written.format === 'date-time') delete written.pattern
    },
  })
}

function withComponents({
  components,
  ...document
}: OpenApiObject & { components: OpenApiObject }): OpenApiObject {
  const schemas: OpenApiObject = {}
  const lifted = lift(document, schemas)
  const sorted = Object.entries(schemas).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return { ...(lifted as OpenApiObject), components: { ...components, schemas: Object.fromEntries(sorted) } }
}

function lift(value: unknown, schemas: OpenApiObject): unknown {
  if (Array.isArray(value)) return value.map((item) => lift(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const { $schema: _, $defs: named = {}, ...rest } = value as OpenApiObject
  for (const [name, schema] of Object.entries(named as OpenApiObject)) schemas[name] = lift(schema, schemas)
  return Object.fromEntries(
    Object.entries(rest).map(([key, inner]) =>
      key === '$ref'
        ? [key, String(inner).replace('#/$defs/', '#/components/schemas/')]
        : [key, lift(inner, schemas)],
    ),
  )
}

/** `Create a channel` becomes `createChannel`. The text after a comma is ignored. */
function operationId(summary: string): string {
  const [words = ''] = summary.split(',')
  return words
    .split(' ')
    .filter((word) => !/^(?:an?|the|of|its)$/.test(word))
    .map((word, place) => (place === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

function listed(origin: ApiRoute['origin']): string {
  return routes
    .filter((route) => route.origin === origin)
    .map(({ method, path }) => `- \`${method.toUpperCase()} ${path}\``)
    .join('\n')
}

function origins(): string {
  return `The interface page that this service implements defines these operations:

${listed('page')}

It also defines the fields of channels, StableWallets and deposit addresses, the header \`X-API-KEY\` and the scopes
\`read\` and \`write\`. Everything else is an addition of this service and may differ in another one: all statuses,
which fields are required, the format of ids and the effect of a repeated id, the query and the response of the list of
deposits, all problems and their codes, all limits, policies, webhooks, and these operations:

${listed('ours')}`
}

/** As OpenAPI 3.1. */
export const apiDescription = describeApi()
