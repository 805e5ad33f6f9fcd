import { setTimeout } from 'node:timers/promises'
import type { Express } from 'express'
import type { Logger } from 'pino'
import { createRouteHandler, hungUp } from '../../http/route-handler.ts'
import { logEvent } from '../../log/log-event.ts'
import type { Faults } from '../faults/faults.ts'
import { describeError } from '../running/requests.ts'
import type { Authenticate } from './authentication.ts'
import { problems, refusal } from './problem.ts'
import type { Api, ApiRoute, ServiceApi } from './route.ts'

export type HandlerParts = {
  api: Api
  routes: readonly ApiRoute[]
  authenticate: Authenticate
  stopping: AbortSignal
  log: Logger
}

export function createHandler({ api, routes, authenticate, stopping, log }: HandlerParts): Express {
  return createRouteHandler<ServiceApi>({
    routes,
    problems,
    async admit(exchange, route) {
      const scope = route === null ? 'read' : route.scope
      if (scope !== null) await authenticate(exchange, scope)
      if (route !== null)
        await strikeCall(api.faults, () => AbortSignal.any([stopping, hungUp(exchange.response)]))
      return api
    },
    failed: (error) => logEvent(log, 'service_request_failed', { problem: describeError(error) }),
  })
}
/** Mostly valid seconds, then unusual values that callers must handle. */
const retriesAfter = ['1', '1', '1', '0', '86400', '-1', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'] as const

/** Longer than callers wait. */
const stallMaxMs = 120_000

/** Injects a 429, a 500, or no answer until `gone` aborts. @throws Fault `request_refused` */
export async function strikeCall(faults: Faults, gone: () => AbortSignal): Promise<void> {
  const [isRefused, isFailed, isStalled] = [
    faults.strikesRequest('refuseCallRate'),
    faults.strikesRequest('failCallRate'),
    faults.strikesRequest('stallCallRate'),
  ]
  if (isRefused) {
    const headers = { 'retry-after': faults.pick('retry-after', retriesAfter) }
    throw refusal('rate_limited', 'injected fault; send the request again later', { headers })
  }
  if (isFailed) throw refusal('internal', 'injected fault; send the request again')
  if (!isStalled) return
  await setTimeout(stallMaxMs, undefined, { signal: gone() }).catch(() => undefined)
  throw refusal('internal', 'injected fault; the service did not answer')
}
