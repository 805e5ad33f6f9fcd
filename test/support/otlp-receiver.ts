import { once } from 'node:events'
import { createServer } from 'node:http'

type Value = {
  stringValue?: string
  intValue?: number | string
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}

type Sent = {
  resourceSpans: {
    resource: { attributes: { key: string; value: Value }[] }
    scopeSpans: { spans: SentSpan[] }[]
  }[]
}

type SentSpan = {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Value }[]
  links?: { traceId: string; spanId: string }[]
}

export type ReceivedSpan = Omit<SentSpan, 'attributes'> & {
  service: string
  attributes: Record<string, unknown>
}

export type OtlpReceiver = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans: ReceivedSpan[]
  headers: Record<string, unknown>[]
  stop: () => Promise<void>
}

/** A collector that keeps what it is sent as OTLP/JSON. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const headers: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isTraces = request.method === 'POST' && request.url === '/v1/traces'
      if (isTraces) spans.push(...spansIn(JSON.parse(Buffer.concat(chunks).toString()) as Sent))
      headers.push(request.headers)
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    headers,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function spansIn({ resourceSpans }: Sent): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({ ...span, service, attributes: attributesOf(span.attributes) })),
    )
  })
}

function attributesOf(attributes: readonly { key: string; value: Value }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))
}

function plain({ stringValue, intValue, boolValue, arrayValue }: Value): unknown {
  return arrayValue?.values.map(plain) ?? stringValue ?? boolValue ?? Number(intValue)
}

/** The spans of one trace as a tree: each name, indented below its parent. */
export function treeOf(spans: readonly ReceivedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId)
  const ids = new Set(own.map(({ spanId }) => spanId))
  const below = (parent: string | undefined, depth: number): string[] =>
    own
      .filter(({ parentSpanId }) =>
        parent === undefined ? !ids.has(parentSpanId ?? '') : parentSpanId === parent,
      )
      .toSorted((left, right) => Number(BigInt(left.startTimeUnixNano) - BigInt(right.startTimeUnixNano)))
      .flatMap(({ name, spanId }) => [`${'  '.repeat(depth)}${name}`, ...below(spanId, depth + 1)])
  return below(undefined, 0)
}
