import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RawService, startRawService } from '../support/raw-service.ts'

type Listed = { status: number; body: string; headers: Record<string, string> }
type Asked = { request: IncomingMessage; url: URL }

/** Answers a request, by asking the real service or not. True where the answer is not what the service would say. */
export type ServiceScript = (
  response: ServerResponse,
  asked: Asked,
  forward: (url?: URL) => Promise<Listed>,
) => boolean | Promise<boolean>

export type ServiceProxy = RawService & {
  /** Answers that were spoilt since the script was given. */
  spoilt: () => number
  /** Replaces the script; without one every answer is the service's own. */
  behave: (script?: ServiceScript) => void
}

/** Before the API of a service: spoils what it answers. */
export async function startServiceProxy(serviceUrl: string): Promise<ServiceProxy> {
  let script: ServiceScript | undefined
  let spoilt = 0
  const server = await startRawService((request, response) => {
    const url = new URL(request.url ?? '', serviceUrl)
    const forward = (to = url) => askService(to, request)
    const answer = async () => {
      if (script === undefined || request.method !== 'GET') passOn(response, await forward())
      else if (await script(response, { request, url }, forward)) spoilt++
    }
    answer().catch(() => response.destroy())
  })
  return Object.assign(server, {
    spoilt: () => spoilt,
    behave: (next?: ServiceScript) => {
      script = next
      spoilt = 0
    },
  })
}

async function askService(url: URL, request: IncomingMessage): Promise<Listed> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { method = 'GET', headers } = request
  const response = await fetch(url, {
    method,
    headers: {
      'x-api-key': String(headers['x-api-key']),
      ...(headers['content-type'] && { 'content-type': headers['content-type'] }),
    },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  })
  const kept = ['content-type', 'retry-after'].flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  return {
    status: response.status,
    body: await response.text(),
    headers: Object.fromEntries(kept) as Record<string, string>,
  }
}

/** @returns false: this is what the service says. */
export function passOn(response: ServerResponse, { status, body, headers }: Listed): boolean {
  response.writeHead(status, headers).end(body)
  return false
}
