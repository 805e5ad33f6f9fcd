import { gauge } from './declare.ts'
import { routes } from './label-values.ts'

const ofRoute = { labels: { route: routes } }
const spread = { labels: { route: routes, quantile: ['0.5', '0.95', '0.99'] } }

export const ofScorecard = {
  scorecardCompleteness: gauge(
    'scorecard_completeness_ratio',
    'Of the steps that API or chain know of the last 24 hours of deposits, the share that webhooks told of.',
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
