import type { RequestHandler } from 'express'
import { createExpositions, prefersOpenMetrics } from './exposition.ts'
import type { Metrics } from './metrics.ts'
import type { TellGauges } from './read-gauges.ts'
import { showGauges } from './show-gauges.ts'

/**
 * Answers a scrape. What a process counted is told whatever else is down; gauges that could not be read are left out,
 * for an old figure must not pass for one of now.
 */
export function serveMetrics({ metrics, read }: { metrics: Metrics; read: TellGauges }): RequestHandler {
  const { plain, openMetrics } = createExpositions(metrics.registry)
  return async (request, response) => {
    const { contentType, text } = prefersOpenMetrics(request.headers.accept) ? openMetrics : plain
    showGauges(metrics, await read())
    response
      .set('vary', 'Accept')
      .type(contentType)
      .send(await text())
  }
}
