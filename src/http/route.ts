import { z } from 'zod'
import { parseRequest } from './read-request.ts'

/** What the routes of one API have in common. */
export type ApiKind = {
  /** What handlers work with. */
  api: unknown
  scope: string
  problem: string
}

const nothing = z.strictObject({})
const noBody = z.undefined()
/** Many clients send `{}` to a POST without a body. */
const emptyBody = z.strictObject({}).prefault({})

type RouteFacts<Kind extends ApiKind> = {
  method: 'get' | 'post' | 'put' | 'delete'
  /** Parameters are in braces: `/v1/channels/{id}`. */
  path: string
  /** Null if no key is required. */
  scope: Kind['scope'] | null
  summary: string
  description: string
  /** 204 has no `answer`. */
  status: 200 | 201 | 204
  /** Problems beyond those implied by the definition. */
  refusals: readonly Kind['problem'][]
}

/** Handlers receive only valid input, and their result has the published type. */
type RouteDefinition<
  Kind extends ApiKind,
  Parameters extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> = RouteFacts<Kind> & {
  parameters?: Parameters
  query?: Query
  /** If omitted, a POST accepts no body or `{}`, and other methods no body. */
  body?: Body
  answer?: Answer
  run(
    api: Kind['api'],
    request: { parameters: z.output<Parameters>; query: z.output<Query>; body: z.output<Body> },
  ): Promise<DeepReadonly<z.output<Answer>>>
}

/** Responses may contain readonly values, because they are only serialized. */
type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value

type RawRequest = { parameters: unknown; query: unknown; body: unknown }

export type HttpRoute<Kind extends ApiKind> = RouteFacts<Kind> & {
  parameters: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  answer: z.ZodType | null
  /** @throws Fault `request_refused` */
  run(api: Kind['api'], request: RawRequest): Promise<unknown>
}

/** @returns the function that defines the routes of one API */
export function routeDefiner<Kind extends ApiKind>() {
  return <
    Parameters extends z.ZodObject = typeof nothing,
    Query extends z.ZodObject = typeof nothing,
    Body extends z.ZodType = typeof noBody,
    Answer extends z.ZodType = typeof noBody,
  >(
    form: RouteDefinition<Kind, Parameters, Query, Body, Answer>,
  ): HttpRoute<Kind> => {
    const parameters = form.parameters ?? (nothing as unknown as Parameters)
    const query = form.query ?? (nothing as unknown as Query)
    const body = form.body ?? (form.method === 'post' ? emptyBody : null)
    return {
      ...form,
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
}
