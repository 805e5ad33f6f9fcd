import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import { tell } from '../../log/tell.ts'
import { loopback } from '../free-port.ts'
import { parseExactly, stringifyExactly } from './json.ts'
import type { Methods } from './parameters.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'

export type RpcServer = { stop(): Promise<void> }

const bodyBytesMax = 1_000_000
const batchMax = 100

const callSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})

/** Answers JSON-RPC calls, alone or several in one request, on loopback. */
export async function serveRpc(methods: Methods, port: number, log: Logger): Promise<RpcServer> {
  const server = createServer((request, response) => {
    answerRequest(methods, request, response).catch((error: unknown) => {
      tell(log, 'local_request_broken', { err: error })
      response.destroy()
    })
  })
  server.listen(port, loopback)
  await once(server, 'listening')
  return {
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answerRequest(
  methods: Methods,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'GET' && request.url === '/health') return reply(response, 200, 'ok')
  if (request.method !== 'POST') return reply(response, 405, 'Used HTTP Method is not allowed.')
  const body = await readBody(request)
  if (body === null) return reply(response, 413, 'Payload too large')
  response.setHeader('content-type', 'application/json')
  reply(response, 200, stringifyExactly(await answerBody(methods, body)))
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text)
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function answerBody(methods: Methods, body: string): Promise<unknown> {
  let calls: unknown
  try {
    calls = parseExactly(body)
  } catch {
    return failure(null, new RpcError(rpcCodes.parseError, 'Parse error'))
  }
  if (!Array.isArray(calls)) return answerCall(methods, calls)
  if (calls.length > batchMax)
    return failure(null, new RpcError(rpcCodes.invalidRequest, 'Batch is too large'))
  return Promise.all(calls.map((call) => answerCall(methods, call)))
}

async function answerCall(methods: Methods, call: unknown): Promise<unknown> {
  const parsed = callSchema.safeParse(call)
  if (!parsed.success) return failure(null, new RpcError(rpcCodes.invalidRequest, 'Invalid request'))
  const { id, method: name, params } = parsed.data
  try {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    if (method === undefined) throw new RpcError(rpcCodes.methodNotFound, 'Method not found')
    return { jsonrpc: '2.0', result: await method(params), id }
  } catch (error) {
    return failure(id, error)
  }
}

function failure(id: string | number | null, error: unknown) {
  const { code, message, data } =
    error instanceof RpcError
      ? error
      : { code: rpcCodes.internalError, message: messageOf(error), data: undefined }
  return { jsonrpc: '2.0', error: { code, message, data }, id }
}
