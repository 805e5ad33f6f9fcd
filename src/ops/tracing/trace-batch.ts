import { type Context, type Link, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { type AppliedTrail, rowName } from '../log-trail.ts'

type BatchTraceContexts = {
  context: Context
  /** Null if the row arrived without a trace. */
  contextOf: (inboxId: bigint) => Context | null
}

/** OpenTelemetry's default limit for one span. */
const linksMax = 128
const namedMax = 32

/** Also continues the traces of webhooks that arrived earlier. */
export function traceBatch(
  tracer: Tracer,
  batch: AppliedTrail,
  { context, contextOf }: BatchTraceContexts,
): void {
  const { times, taken, trails, rows, groups, journals } = batch
  const own = taken.flatMap(({ id, source }) => {
    const place = contextOf(id)
    return place === null ? [] : [{ id, source, place }]
  })
  const attributes = { 'depositd.rows': rows, 'depositd.groups': groups, 'depositd.journals': journals }
  const links = own.slice(0, linksMax).flatMap(({ place }) => linkTo(place))
  const span = tracer.startSpan('apply batch', { startTime: times.begunAt, attributes, links }, context)
  const toBatch = linkTo(trace.setSpan(context, span))
  const trailsOfRow = byRow(trails, ({ rows: led }) => led)
  for (const { id, source, place } of own) {
    const about = { 'depositd.inbox': rowName(id), 'depositd.source': source }
    const options = { kind: SpanKind.CONSUMER, startTime: times.begunAt, attributes: about, links: toBatch }
    const applied = tracer.startSpan('apply', options, place)
    for (const trail of trailsOfRow.get(id) ?? [])
      traceDeposit(tracer, trail, { times, context: trace.setSpan(place, applied), links: toBatch })
    applied.end(times.bookedAt)
  }
  const isOwn = new Set(own.map(({ id }) => id))
  const booked = trails.filter((trail) => trail.journals.length > 0)
  for (const [id, reported] of byRow(booked, ({ webhooks }) => webhooks)) {
    const place = isOwn.has(id) ? null : contextOf(id)
    if (place === null) continue
    for (const trail of reported) traceDeposit(tracer, trail, { times, context: place, links: toBatch })
  }
  span.end(times.bookedAt)
}

type AppliedDepositTrail = AppliedTrail['trails'][number]
type DepositTraceContext = { times: AppliedTrail['times']; context: Context; links: Link[] }

function traceDeposit(
  tracer: Tracer,
  trail: AppliedDepositTrail,
  { times, context, links }: DepositTraceContext,
): void {
  const { depositId, state, journals, rows } = trail
  const attributes = {
    'depositd.deposit': depositId.toString(),
    'depositd.state': state,
    'depositd.rows': rows.map(rowName),
  }
  const decided = tracer.startSpan('decide', { startTime: times.loadedAt, attributes, links }, context)
  if (journals.length > 0) {
    const named = { 'depositd.journals': journals.slice(0, namedMax) }
    const within = trace.setSpan(context, decided)
    tracer.startSpan('post', { startTime: times.decidedAt, attributes: named }, within).end(times.bookedAt)
  }
  decided.end(journals.length > 0 ? times.bookedAt : times.decidedAt)
}

function byRow(
  trails: readonly AppliedDepositTrail[],
  rowsOf: (trail: AppliedDepositTrail) => readonly bigint[],
): Map<bigint, AppliedDepositTrail[]> {
  const pairs = trails.flatMap((trail) => rowsOf(trail).map((id) => ({ id, trail })))
  const groups = Map.groupBy(pairs, ({ id }) => id)
  return new Map([...groups].map(([id, all]) => [id, all.map(({ trail }) => trail)]))
}

function linkTo(context: Context): Link[] {
  const place = trace.getSpanContext(context)
  return place === undefined ? [] : [{ context: place }]
}
