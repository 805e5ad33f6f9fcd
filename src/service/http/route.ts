import { z } from 'zod'
import type { NetworkSettings } from '../../core/asset.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Prices } from '../deposits/prices.ts'
import type { Faults } from '../faults/faults.ts'
import type { Owners } from '../owners.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import type { SecretVault } from '../webhooks/secrets.ts'
import type { ProblemCode } from './problem.ts'
import { parseRequest } from './read-request.ts'

export type Api = {
  db: ServiceDatabase
  owners: Owners
  deposits: Deposits
  prices: Prices
  networks: readonly NetworkSettings[]
  faults: Faults
  webhooks: { vault: SecretVault; allowPrivate: boolean }
}

const nothing = z.strictObject({})
const noBody = z.undefined()
/** Many clients send `{}` to a POST without a body. */
const emptyBody = z.strictObject({}).prefault({})

/** Handlers receive only valid input, and their result has the published type. */
export type RouteDefinition<
  Parameters extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof noBody,
  Answer extends z.ZodType = typeof noBody,
> = {
  method: 'get' | 'post' | 'put' | 'delete'
  /** Parameters are in braces: `/v1/channels/{id}`. */
  path: string
  /** Null if no key is required. */
  scope: ApiScope | null
  summary: string
  /** `ours` fills a gap of the interface page. */
  origin: 'page' | 'ours'
  parameters?: Parameters
  query?: Query
  /** If omitted, a POST accepts no body or `{}`, and other methods no body. */
  body?: Body
  /** 204 has no `answer`. */
  status: 200 | 201 | 204
  answer?: Answer
  /** Problems beyond those implied by the definition. */
  refusals: readonly ProblemCode[]
  run(
    api: Api,
    request: { parameters: z.output<Parameters>; query: z.output<Query>; body: z.output<Body> },
  ): Promise<DeepReadonly<z.output<Answer>>>
}

/** Responses may contain readonly values, because they are only serialized. */
type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value

export type RawRequest = { parameters: unknown; query: unknown; body: unknown }

export type ApiRoute = Pick<
  RouteDefinition,
  'method' | 'path' | 'scope' | 'summary' | 'origin' | 'status' | 'refusals'
> & {
  parameters: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  answer: z.ZodType | null
  /** @throws Fault `request_refused` */
  run(api: Api, request: RawRequest): Promise<unknown>
}

export function defineRoute<
  Parameters extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof noBody,
  Answer extends z.ZodType = typeof noBody,
>(form: RouteDefinition<Parameters, Query, Body, Answer>): ApiRoute {
  const { method, path, scope, summary, origin, status, refusals } = form
  const parameters = form.parameters ?? (nothing as unknown as Parameters)
  const query = form.query ?? (nothing as unknown as Query)
  const body = form.body ?? (method === 'post' ? emptyBody : null)
  return {
    method,
    path,
    scope,
    summary,
    origin,
    status,
    refusals,
    parameters,
    query,
    body,
    answer: form.answer ?? null,
    run: async (api, request) =>
      form.run(api, {
        parameters: parseRequest(parameters, request.parameters, 'parameter'),
        query: parseRequest(query, request.query, 'parameter'),
        body: parseRequest(body ?? noBody, request.body, 'body') as z.output<Body>,
      }),
  }
}
