import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { compose, prometheusSettings } from '../support/compose-file.ts'
import { pathOf, textOf } from './files.ts'

describe('what Grafana is provisioned with', () => {
  const sourcesShape = z.object({
    datasources: z.array(z.object({ uid: z.string(), url: z.string() }).loose()),
  })
  const { datasources } = sourcesShape.parse(
    parse(textOf('grafana/provisioning/datasources/datasources.yml')),
  )
  const none: Record<string, string> = {}
  const grafana = compose.services.grafana ?? { volumes: [], environment: none }

  it('are the data sources, each a service of the compose file', () => {
    expect(datasources.map(({ uid, url }) => [uid, url])).toEqual([
      ['prometheus', 'http://prometheus:9090'],
      ['accounting', 'postgres:5432'],
      ['alertmanager', 'http://alertmanager:9093'],
    ])
    const hosts = datasources.map(({ url }) => url.replace(/^http:\/\//, '').split(':')[0] ?? '')
    expect(hosts.filter((host) => !(host in compose.services))).toEqual([])
  })

  it('is the accountant that the database is made with, and a password file that both are given', () => {
    const made = textOf('grafana/postgres/create-accountant.sql')
    const [, accounting] = datasources
    expect(made).toContain(`create role ${String(accounting?.user)} login`)
    const file = '/run/secrets/accountant_password'
    expect(accounting?.secureJsonData).toEqual({ password: `$__file{${file}}` })
    expect(made).toContain(`cat ${file}`)
  })

  it('is the folder of dashboards, where the compose file mounts it', () => {
    const providers = z.object({ providers: z.array(z.object({ options: z.object({ path: z.string() }) })) })
    const [provider] = providers.parse(
      parse(textOf('grafana/provisioning/dashboards/dashboards.yml')),
    ).providers
    expect(grafana.volumes).toContain(`./grafana/dashboards:${provider?.options.path}:ro`)
    expect(grafana.volumes).toContain('./grafana/provisioning:/etc/grafana/provisioning:ro')
    const home = grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? ''
    expect(existsSync(pathOf(home.replace(/^\/etc\/grafana\//, 'grafana/')))).toBe(true)
  })

  it('is preceded by a Prometheus that reads its configuration where it is mounted', () => {
    const { prometheus } = compose.services
    expect(prometheus?.volumes).toContain('./grafana/prometheus:/etc/prometheus:ro')
    expect(prometheus?.command).toContain('--config.file=/etc/prometheus/prometheus.yml')
    const { alerting } = prometheusSettings
    expect(alerting.alertmanagers[0]?.static_configs[0]?.targets).toEqual(['alertmanager:9093'])
  })

  it('and an Alertmanager that reads its own where setup writes it', () => {
    const { alertmanager } = compose.services
    expect(compose.services.setup?.volumes).toContain('./grafana/alertmanager:/etc/alertmanager:ro')
    expect(alertmanager?.command).toContain('--config.file=/run/secrets/alertmanager.yml')
    expect(existsSync(pathOf('grafana/alertmanager/alertmanager.yml'))).toBe(true)
  })
})
