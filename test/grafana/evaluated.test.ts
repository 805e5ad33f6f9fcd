import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDashboards } from '../support/dashboard-queries.ts'
import {
  type Demonstration,
  intervalSeconds,
  keepBooks,
  payHonestly,
  startDemonstration,
  untilShown,
  withinMs,
} from '../support/demonstration.ts'
import { type Evaluated, evaluateDashboards } from '../support/evaluate-dashboards.ts'
import {
  alertsEver,
  type EvaluatedSelector,
  evaluatedRules,
  evaluateSelectors,
} from '../support/evaluate-rules.ts'
import { goWrong, type Wrong, wrongs } from '../support/go-wrong.ts'
import { allowanceFor, mayBeEmpty } from '../support/may-be-empty.ts'
import { type LoadedRule, prometheusInstalled, type Series } from '../support/prometheus.ts'
import { until } from '../support/until.ts'

const alarming = wrongs.filter(({ alert }) => alert !== null)
const dashboards = readDashboards().map(({ name, queries }) => ({
  name,
  places: queries.map(({ where }) => where),
}))

/** Of what goes wrong here, these would fire if it went on for as long as they wait. */
const waitingLonger = ['DepositdWebhooksRefused', 'DepositdJobFailing']

describe.skipIf(!prometheusInstalled())('a real Prometheus beside depositd', () => {
  const stack = new AsyncDisposableStack()
  let demonstration: Demonstration
  let rules: LoadedRule[]
  let selectors: EvaluatedSelector[]
  let firing: Series[]
  let pendingInTheEnd: Series[]
  let activeBefore: Series[]
  const evaluated = new Map<string, Evaluated>()

  beforeAll(async () => {
    demonstration = await startDemonstration({}, stack)
    const { prometheus } = demonstration
    await payHonestly(demonstration)
    await keepBooks(demonstration)
    // What waited for the first reading of everything ends by itself; what does not is told by the tests.
    const isCalm = async () => ((await alertsNow()).length === 0 ? true : null)
    await until('nothing is alarming', isCalm).catch(() => null)
    activeBefore = [...(await alertsNow()), ...(await alertsEver(prometheus, 'firing'))]
    await goWrong(demonstration)
    // What does not fire is told by the tests.
    await until('every alert fires', everyAlertFires, 60_000).catch(() => null)
    await untilShown(demonstration, new Date())
    rules = await until('every rule is evaluated', () => evaluatedRules(prometheus), withinMs)
    selectors = await evaluateSelectors(prometheus, rules)
    pendingInTheEnd = await prometheus.query('ALERTS{alertstate="pending"}')
    firing = await alertsEver(prometheus, 'firing')
    const times = { from: demonstration.startedAt, to: new Date() }
    for (const { queries } of await evaluateDashboards(demonstration, times))
      for (const query of queries) evaluated.set(query.where, query)
  }, 5 * withinMs)
  afterAll(() => stack.disposeAsync())

  const alertsNow = () => demonstration.prometheus.query('ALERTS{alertname!="DepositdWatchdog"}')

  async function everyAlertFires(): Promise<true | null> {
    const now = await alertsEver(demonstration.prometheus, 'firing')
    return alarming.every((wrong) => now.some((alert) => isOf(wrong, alert))) || null
  }

  describe('evaluates the dashboards', () => {
    test.each(dashboards)('$name: every query can be asked', ({ places }) => {
      const failed = places.map((where) => evaluated.get(where)).filter((one) => one?.outcome !== 'data')
      expect(failed.filter((one) => one?.outcome !== 'empty')).toEqual([])
    })

    test.each(dashboards)('$name: every query has data, or a reason to have none', ({ places }) => {
      const empty = places.filter((where) => evaluated.get(where)?.outcome === 'empty')
      expect(empty.filter((where) => allowanceFor(where) === null)).toEqual([])
    })

    test('no two queries have one name', () => {
      const places = dashboards.flatMap((one) => one.places)
      expect(places.toSorted()).toEqual([...new Set(places)].toSorted())
    })
  })

  describe('evaluates the rules', () => {
    test('each without an error', () => {
      expect(rules.length).toBeGreaterThan(20)
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
    })

    test('each with series to look at, or a reason why there are none', () => {
      const empty = selectors.filter(({ series }) => series === 0).map(({ where }) => where)
      expect(empty.filter((where) => allowanceFor(where) === null)).toEqual([])
    })

    test('and puts words together that say something', () => {
      const words = rules.flatMap(({ alerts }) =>
        alerts.flatMap(({ annotations }) => Object.values(annotations)),
      )
      expect(words.length).toBeGreaterThan(0)
      expect(words.filter((text) => /error expanding|<no value>|NaN/.test(text))).toEqual([])
    })
  })

  test('what may be empty is there, and is empty', () => {
    const empty = [
      ...[...evaluated.values()].map(({ where, outcome }) => ({ where, isEmpty: outcome === 'empty' })),
      ...selectors.map(({ where, series }) => ({ where, isEmpty: series === 0 })),
    ]
    const idle = mayBeEmpty.filter((entry) => {
      const covered = empty.filter(({ where }) => allowanceFor(where) === entry)
      return covered.length === 0 || (entry.byChance !== true && covered.some(({ isEmpty }) => !isEmpty))
    })
    expect(idle).toEqual([])
  })

  describe('calls people', () => {
    test('for nothing, while nothing is wrong', () => {
      expect(activeBefore.map(({ labels }) => labels)).toEqual([])
    })

    test.each(alarming)('within two evaluations where $what', async (wrong) => {
      const fired = firing.filter((alert) => isOf(wrong, alert))
      expect(fired).not.toEqual([])
      const firedAt = Math.min(...fired.map(({ samples }) => samples[0]?.[0] ?? Infinity))
      const seen = await demonstration.prometheus.query(`depositd_mismatches_open{kind="${wrong.kind}"}[1h]`)
      const seenAt = Math.min(
        ...seen.map(({ samples }) => samples.find(([, open]) => open > 0)?.[0] ?? Infinity),
      )
      expect(firedAt - seenAt).toBeLessThanOrEqual(2 * intervalSeconds)
    })

    test('and for nothing else', () => {
      const strange = firing.filter((alert) => !alarming.some((wrong) => isOf(wrong, alert)))
      expect(strange.map(({ labels }) => labels)).toEqual([])
    })

    test('and is about to for nothing else', () => {
      const names = pendingInTheEnd.map(({ labels }) => labels.alertname ?? '')
      expect(names.filter((name) => !waitingLonger.includes(name))).toEqual([])
    })

    test('one who is always there', async () => {
      const watchdog = 'ALERTS{alertname="DepositdWatchdog",alertstate="firing"}'
      expect(await demonstration.prometheus.query(watchdog)).toHaveLength(1)
    })
  })

  test('and shows metrics in which promtool finds nothing to improve', async () => {
    const { opsUrl } = demonstration.world.daemon
    const input = await (await fetch(`${opsUrl}/metrics`)).text()
    expect(input).toContain('depositd_scorecard_delivery_seconds{')
    expect(spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })

  test.each(['depositd_stage_lag_seconds_bucket', 'depositd_webhook_ack_seconds_bucket'])(
    'keeps on what single deposits and deliveries %s was observed',
    async (name) => {
      const range = { start: demonstration.startedAt.getTime() / 1000, end: Date.now() / 1000 }
      const kept = await demonstration.prometheus.exemplars(name, range)
      expect(kept.flatMap(({ exemplars }) => exemplars).length).toBeGreaterThan(0)
    },
  )
})

function isOf({ alert }: Wrong, { labels }: Series): boolean {
  if (alert === null || labels.alertname !== alert.name) return false
  return Object.entries(alert.labels).every(([name, value]) => labels[name] === value)
}
