import { z } from 'zod'
import { type BodyProblemCode, bodyProblems, type HttpProblemCode, type ProblemDocuments } from './problem.ts'
import type { ApiKind, HttpRoute } from './route.ts'

export type OpenApiObject = Record<string, unknown>

type ApiDescription<Kind extends ApiKind> = {
  info: { title: string; version: string; description: string }
  problems: ProblemDocuments<Kind['problem']>
  securitySchemes: OpenApiObject
  /** What a call with this scope needs, and what it is refused with otherwise. */
  security: (scope: Kind['scope']) => { needs: OpenApiObject; problems: readonly Kind['problem'][] }
  /** Of the success of a call with a scope. */
  headers: OpenApiObject
  /** Beyond those of its schemas: headers of requests, and answers without a problem. */
  beside?: (route: HttpRoute<Kind>) => { parameters: OpenApiObject[]; responses: OpenApiObject }
}

/** As OpenAPI 3.1, from the schemas that validate. */
export function describeApi<Kind extends ApiKind>(
  routes: readonly HttpRoute<Kind>[],
  api: ApiDescription<Kind>,
): OpenApiObject {
  const paths = Map.groupBy(routes, ({ path }) => path)
  return withComponents({
    openapi: '3.1.1',
    info: api.info,
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      [...paths].map(([path, here]) => [
        path,
        Object.fromEntries(here.map((route) => [route.method, describeRoute(route, api)])),
      ]),
    ),
    components: { securitySchemes: api.securitySchemes },
  })
}

function describeRoute<Kind extends ApiKind>(
  route: HttpRoute<Kind>,
  api: ApiDescription<Kind>,
): OpenApiObject {
  const { scope, summary, parameters, query, body, status, answer } = route
  const beside = api.beside?.(route) ?? { parameters: [], responses: {} }
  const placed = [...parametersOf(parameters, 'path'), ...parametersOf(query, 'query'), ...beside.parameters]
  return {
    operationId: operationId(summary),
    summary,
    description: route.description,
    security: scope === null ? [] : [api.security(scope).needs],
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
        ...(scope !== null && { headers: api.headers }),
        ...(answer !== null && {
          content: { 'application/json': { schema: jsonSchema(answer, 'output') } },
        }),
      },
      ...beside.responses,
      ...refusalResponses(route, api),
    },
  }
}

function parametersOf(schema: z.ZodObject, place: 'path' | 'query'): OpenApiObject[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...written } = jsonSchema(field, 'output')
    return {
      name,
      in: place,
      required: place === 'path' || !isOptional(field),
      ...(description !== undefined && { description }),
      // A number in a query is text, but described as a number.
      schema: written,
    }
  })
}

export const count = { type: 'integer', minimum: 0 }

/** Of a status whose problems all, or in part, say when to try again. */
function retryAfter(required: boolean): OpenApiObject {
  return { headers: { 'Retry-After': { required, description: 'Seconds to wait.', schema: count } } }
}

function isOptional(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, undefined).success
}

function refusalResponses<Kind extends ApiKind>(
  route: HttpRoute<Kind>,
  api: ApiDescription<Kind>,
): OpenApiObject {
  const { statusOf, describe, waits, schema } = api.problems
  const byStatus = Object.groupBy(problemsOf(route, api), (code) => String(statusOf(code)))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes = []]) => [
      status,
      {
        ...(codes.some(waits) && retryAfter(codes.every(waits))),
        description: codes.map((code) => `\`${code}\`: ${describe(code)}.`).join(' '),
        content: {
          'application/problem+json': {
            schema: {
              allOf: [jsonSchema(schema, 'output')],
              properties: { status: { const: Number(status) }, code: { enum: codes } },
            },
          },
        },
      },
    ]),
  )
}

function problemsOf<Kind extends ApiKind>(
  { scope, parameters, body, refusals }: HttpRoute<Kind>,
  { security }: ApiDescription<Kind>,
): (Kind['problem'] | HttpProblemCode)[] {
  const ofBody = ['request_timeout', ...(Object.keys(bodyProblems) as BodyProblemCode[])] as const
  return [
    ...new Set([
      ...(scope === null ? [] : [...security(scope).problems, 'rate_limited' as const]),
      'request_invalid' as const,
      ...(Object.keys(parameters.shape).length === 0 ? [] : ['http_malformed' as const]),
      ...(body === null ? [] : (ofBody as readonly HttpProblemCode[])),
      'internal' as const,
      ...refusals,
    ]),
  ]
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
