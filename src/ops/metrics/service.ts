import { counter, gauge } from './declare.ts'

export const jobNames = [
  'apply',
  'scan',
  'backfill',
  'verify',
  'poll',
  'read',
  'sweep',
  'audit',
  'prove',
  'seal',
  'beat',
  'canary',
] as const

/** The parts that a scrape reads before it responds. */
export const readingParts = ['live', 'totals', 'scorecard', 'queue'] as const
export type ReadingPart = (typeof readingParts)[number]

export const ofService = {
  build: gauge('build_info', 'Always 1; the label names the version.', {
    labels: { version: { set: 'version', upTo: 1 } },
    unit: 'flag',
  }),
  link: gauge('link_info', 'Always 1; the labels name a page and its address, by which alerts link to it.', {
    labels: { to: ['console', 'dashboards', 'runbook'], url: { set: 'url', upTo: 3 } },
    unit: 'flag',
  }),
  gaugesReadable: gauge(
    'gauges_readable',
    'Whether the data of a part of the gauges could be read for this answer; if not, its gauges are left out.',
    { labels: { part: readingParts }, unit: 'flag' },
  ),
  gaugesAge: gauge(
    'gauges_age_seconds',
    'How old what a part of the gauges shows is. What takes long to read is read less often.',
    { labels: { part: readingParts } },
  ),
  queueJobs: gauge('queue_jobs', 'Jobs in the queue.', {
    labels: {
      queue: ['depositd'],
      state: ['waiting', 'active', 'delayed', 'failed', 'completed'],
    },
  }),
  beatAge: gauge(
    'beat_age_seconds',
    'Since a scheduler last woke, or a worker last ran, the job that does nothing else than show that they are alive.',
    { labels: { role: ['scheduler', 'worker'] } },
  ),
  jobFailures: counter('job_failures_total', 'Runs of a job that failed.', { labels: { name: jobNames } }),
}
