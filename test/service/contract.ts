import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { apiDescription } from '../../src/service/http/routes.ts'

/** A call as it went over the wire; `body` is text or what JSON said. */
export type Exchange = {
  method: string
  url: string
  sent: unknown
  status: number
  headers: Headers
  answer: unknown
}

type Parameter = { name: string; in: string; schema: { type?: string } }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { required: boolean }
  responses: Record<string, { content?: Record<string, object>; headers?: Record<string, object> }>
}
type Document = { paths: Record<string, Record<string, Operation>> }
type Declared = { operation: Operation; place: readonly string[]; label: string }

const document = apiDescription as Document
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'api')

/** What anybody may be answered at a path or with a method that no call has. */
const withoutCall = ['key_missing', 'key_unknown', 'rate_limited', 'not_found', 'method_not_allowed']

/**
 * Holds a call to the published document: every answer must be declared there, and no request may succeed that the
 * document forbids.
 * @throws Error that names the difference
 */
export function checkExchange(exchange: Exchange): void {
  const { method, url, status, answer } = exchange
  const { pathname } = new URL(url)
  const path = Object.keys(document.paths).find((candidate) => matches(candidate, pathname)) ?? ''
  const operation = document.paths[path]?.[method.toLowerCase()]
  const label = `${method} ${pathname}, answered ${status}`
  if (operation === undefined) {
    if (!withoutCall.includes(String((answer as { code?: unknown }).code)))
      throw new Error(`${label}: no such call`)
    return
  }
  const declared = { operation, place: ['paths', path, method.toLowerCase()], label }
  checkAnswer(declared, exchange)
  if (status < 300) checkRequest(declared, exchange)
}

function checkAnswer({ operation, place, label }: Declared, { status, headers, answer }: Exchange): void {
  const response = operation.responses[status]
  if (response === undefined) throw new Error(`${label}: the status is not declared`)
  const missing = Object.keys(response.headers ?? {}).filter((name) => !headers.has(name))
  if (missing.length > 0) throw new Error(`${label}: it has no ${missing.join(', ')}`)
  const [media = ''] = (headers.get('content-type') ?? '').split(';')
  if (response.content === undefined) {
    if (answer !== undefined) throw new Error(`${label}: no body is declared`)
  } else if (media in response.content) {
    check([...place, 'responses', String(status), 'content', media, 'schema'], answer, label)
  } else throw new Error(`${label}: the type ${media} is not declared`)
}

function checkRequest({ operation, place, label }: Declared, { url, sent }: Exchange): void {
  const parameters = operation.parameters ?? []
  for (const [name, text] of new URL(url).searchParams) {
    const index = parameters.findIndex((parameter) => parameter.in === 'query' && parameter.name === name)
    const schema = parameters[index]?.schema
    if (schema === undefined) throw new Error(`${label}: the parameter ${name} is not declared`)
    const value = schema.type === 'integer' ? Number(text) : text
    check([...place, 'parameters', String(index), 'schema'], value, label)
  }
  if (operation.requestBody !== undefined) {
    if (sent === undefined && !operation.requestBody.required) return
    check([...place, 'requestBody', 'content', 'application/json', 'schema'], sent, label)
  } else if (sent !== undefined) throw new Error(`${label}: no body of the request is declared`)
}

function check(place: readonly string[], value: unknown, label: string): void {
  const pointer = place.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  const validate = ajv.getSchema(`api#/${pointer}`)
  if (validate === undefined) throw new Error(`${label}: the document has nothing at ${pointer}`)
  if (validate(value) !== true) {
    throw new Error(`${label}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`)
  }
}

function matches(path: string, pathname: string): boolean {
  const pattern = path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`).test(pathname)
}
