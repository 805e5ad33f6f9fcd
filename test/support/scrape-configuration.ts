import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'

const project = z
  .object({
    global: z.record(z.string(), z.unknown()),
    rule_files: z.array(z.string()),
    scrape_configs: z.array(z.looseObject({ job_name: z.string() })),
  })
  .loose()

export type ScrapeSettings = {
  /** URLs of the ops ports that are scraped. */
  opsUrls: readonly string[]
  everySeconds: number
  /** URL of the Alertmanager that gets the alerts; without it nobody does. */
  alertmanagerUrl?: string
}

const projectFile = join(import.meta.dirname, '../../grafana/prometheus/prometheus.yml')

/**
 * The configuration of the project with other targets, which ask for no token on loopback, and at another pace: its rules
 * are the real ones.
 */
export function scrapeConfiguration({ opsUrls, everySeconds, alertmanagerUrl }: ScrapeSettings): string {
  const { global, rule_files, scrape_configs } = project.parse(parse(readFileSync(projectFile, 'utf8')))
  const { scrape_interval: _i, scrape_timeout: _t, ...found } = jobOf(scrape_configs)
  const { dns_sd_configs: _d, authorization: _a, ...job } = found
  const every = `${everySeconds}s`
  return stringify({
    global: { ...global, scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
    rule_files: rule_files.map((file) => join(dirname(projectFile), file)),
    scrape_configs: [{ ...job, static_configs: [{ targets: opsUrls.map((url) => new URL(url).host) }] }],
    ...(alertmanagerUrl !== undefined && {
      alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(alertmanagerUrl).host] }] }] },
    }),
  })
}

function jobOf(jobs: z.output<typeof project>['scrape_configs']): (typeof jobs)[number] {
  const job = jobs.find(({ job_name: name }) => name === 'depositd')
  if (job === undefined) throw new Error(`${projectFile} has no job depositd`)
  return job
}
