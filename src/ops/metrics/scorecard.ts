import { gauge } from './declare.ts'
import { routes } from './label-values.ts'

/** The routes that get a label: the total and the routes with the most deposits, the same on every replica. */
export function busiest<Line extends { route: string; deposits: bigint }>(lines: readonly Line[]): Line[] {
  const rank = (left: Line, right: Line) =>
    Number(right.deposits - left.deposits) || (left.route < right.route ? -1 : 1)
  return lines.toSorted(rank).slice(0, routes.upTo)
}

const ofRoute = { labels: { route: routes } }
/** Prometheus reserves the label `quantile` for summaries, which these are not. */
const spread = { labels: { route: routes, percentile: ['p50', 'p95', 'p99'] } }

export const ofScorecard = {
  scorecardCompleteness: gauge(
    'scorecard_completeness_ratio',
    'Of the steps that API or chain know of the last 24 hours of deposits, the share that webhooks reported.',
    ofRoute,
  ),
  scorecardDelivery: gauge(
    'scorecard_delivery_seconds',
    'From an event to its webhook, of the last 24 hours of deposits.',
    spread,
  ),
  scorecardSettle: gauge(
    'scorecard_settle_seconds',
    'From a final payment to its proved delivery, of the last 24 hours of deposits.',
    spread,
  ),
  scorecardDuplicates: gauge(
    'scorecard_duplicates',
    'Webhooks that came again, of the last 24 hours of deposits.',
    ofRoute,
  ),
  scorecardFee: gauge(
    'scorecard_fee_ratio',
    'Stated fee by delivered and fee together, of the last 24 hours of deposits; approximate.',
    ofRoute,
  ),
}
