import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

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
type DeclaredHeaders = Record<string, { required?: boolean }>
type Operation = {
  parameters?: Parameter[]
  requestBody?: { required: boolean }
  responses: Record<string, { content?: Record<string, object>; headers?: DeclaredHeaders }>
}
type Document = { paths: Record<string, Record<string, Operation>> }
type Declared = { operation: Operation; place: readonly string[]; label: string; ajv: Ajv2020 }

/**
 * Holds calls to a published document: every answer must be declared there, and no request may succeed that the
 * document forbids.
 * @param withoutCall what anybody may be answered at a path or with a method that no call has
 * @returns a function that throws an Error that names the difference
 */
export function contractOf(published: object, withoutCall: readonly string[]): (exchange: Exchange) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(published, 'api')
  const document = published as Document
  return (exchange) => checkExchange({ document, ajv, withoutCall }, exchange)
}

type Contract = { document: Document; ajv: Ajv2020; withoutCall: readonly string[] }

function checkExchange({ document, ajv, withoutCall }: Contract, exchange: Exchange): void {
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
  const declared = { operation, place: ['paths', path, method.toLowerCase()], label, ajv }
  checkAnswer(declared, exchange)
  if (status < 300) checkRequest(declared, exchange)
}

function checkAnswer({ operation, place, ...held }: Declared, { status, headers, answer }: Exchange): void {
  const { label } = held
  const response = operation.responses[status]
  if (response === undefined) throw new Error(`${label}: the status is not declared`)
  checkHeaders(response.headers ?? {}, headers, label)
  const [media = ''] = (headers.get('content-type') ?? '').split(';')
  if (response.content === undefined) {
    if (answer !== undefined) throw new Error(`${label}: no body is declared`)
  } else if (media in response.content) {
    check([...place, 'responses', String(status), 'content', media, 'schema'], answer, held)
  } else throw new Error(`${label}: the type ${media} is not declared`)
}

/** Callers act on `Retry-After`, so none is sent that is not declared. */
function checkHeaders(declared: DeclaredHeaders, headers: Headers, label: string): void {
  const missing = Object.keys(declared).filter((name) => declared[name]?.required && !headers.has(name))
  if (missing.length > 0) throw new Error(`${label}: it has no ${missing.join(', ')}`)
  if (headers.has('retry-after') && !('Retry-After' in declared))
    throw new Error(`${label}: Retry-After is not declared`)
}

function checkRequest({ operation, place, ...held }: Declared, { url, sent }: Exchange): void {
  const { label } = held
  const parameters = operation.parameters ?? []
  for (const [name, text] of new URL(url).searchParams) {
    const index = parameters.findIndex((parameter) => parameter.in === 'query' && parameter.name === name)
    const schema = parameters[index]?.schema
    if (schema === undefined) throw new Error(`${label}: the parameter ${name} is not declared`)
    const value = schema.type === 'integer' ? Number(text) : text
    check([...place, 'parameters', String(index), 'schema'], value, held)
  }
  if (operation.requestBody !== undefined) {
    if (sent === undefined && !operation.requestBody.required) return
    check([...place, 'requestBody', 'content', 'application/json', 'schema'], sent, held)
  } else if (sent !== undefined) throw new Error(`${label}: no body of the request is declared`)
}

function check(
  place: readonly string[],
  value: unknown,
  { label, ajv }: Pick<Declared, 'label' | 'ajv'>,
): void {
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
