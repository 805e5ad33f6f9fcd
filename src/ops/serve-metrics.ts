import { setImmediate as turn } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { createExpositions, prefersOpenMetrics } from './exposition.ts'
import type { Metrics } from './metrics.ts'
import type { TellGauges } from './read-gauges.ts'
import { showGauges } from './show-gauges.ts'

/**
 * Answers a scrape. What a process counted is told whatever else is down; gauges that could not be read are left out,
 * for an old figure must not pass for one of now. Scrapes that come together are answered together.
 */
export function serveMetrics({ metrics, read }: { metrics: Metrics; read: TellGauges }): RequestHandler {
  const { plain, openMetrics } = createExpositions(metrics.registry)
  const write = oncePerTurn<string>()
  return async (request, response) => {
    const { contentType, text } = prefersOpenMetrics(request.headers.accept) ? openMetrics : plain
    const body = await write(contentType, async () => {
      showGauges(metrics, await read())
      return text()
    })
    response.set('vary', 'Accept').type(contentType).send(body)
  }
}

/** Runs once for all who ask for the same in one turn of the event loop, and after they did. */
function oncePerTurn<Result>(): (id: string, run: () => Promise<Result>) => Promise<Result> {
  const due = new Map<string, Promise<Result>>()
  const start = async (id: string, run: () => Promise<Result>) => {
    await turn()
    due.delete(id)
    return run()
  }
  return (id, run) => {
    const asked = due.get(id) ?? start(id, run)
    due.set(id, asked)
    return asked
  }
}
