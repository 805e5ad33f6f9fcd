import { z } from 'zod'
import type { NetworkSettings } from '../../chain/port.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Prices } from '../deposits/prices.ts'
import type { Faults } from '../faults/faults.ts'
import type { Owners } from '../owners.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import type { SecretVault } from '../webhooks/secret-vault.ts'
import { parseRequest } from './parse.ts'
import type { ProblemCode } from './problem.ts'

/** What the operations use. */
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
/** Of a POST that takes nothing: many clients send `{}` all the same. */
const emptyBody = z.strictObject({}).prefault({})

/**
 * One call. Its schemas read the request, and say in the published document what may be asked and answered; so a
 * handler is given only what fits them, and its answer is of the type that is published.
 */
export type RouteForm<
  Parameters extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof noBody,
  Answer extends z.ZodType = typeof noBody,
> = {
  method: 'get' | 'post' | 'put' | 'delete'
  /** Parameters stand in braces: `/v1/channels/{id}`. */
  path: string
  /** The least scope that may call; null where no key is asked for. */
  scope: ApiScope | null
  /** One line for people. */
  summary: string
  /** `page` where the interface page names the call; `ours` where it is our answer to a gap of that page. */
  origin: 'page' | 'ours'
  parameters?: Parameters
  query?: Query
  /** Without it a POST takes no body or an empty object, and any other call no body. */
  body?: Body
  /** The status of success; 204 goes without an `answer`. */
  status: 200 | 201 | 204
  answer?: Answer
  /** The problems that this call can answer beyond those that its form implies. */
  refusals: readonly ProblemCode[]
  run(
    api: Api,
    request: { parameters: z.output<Parameters>; query: z.output<Query>; body: z.output<Body> },
  ): Promise<DeepReadonly<z.output<Answer>>>
}

/** An answer is only written, so what must not be changed may be in it. */
type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value

/** The request as it came: nothing of it is checked yet. */
export type RawRequest = { parameters: unknown; query: unknown; body: unknown }

export type ApiRoute = Pick<
  RouteForm,
  'method' | 'path' | 'scope' | 'summary' | 'origin' | 'status' | 'refusals'
> & {
  parameters: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  answer: z.ZodType | null
  /** @throws Fault `request_refused` */
  run(api: Api, request: RawRequest): Promise<unknown>
}

/** Makes a row of the table of calls out of its form. */
export function defineRoute<
  Parameters extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = typeof noBody,
  Answer extends z.ZodType = typeof noBody,
>(form: RouteForm<Parameters, Query, Body, Answer>): ApiRoute {
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
