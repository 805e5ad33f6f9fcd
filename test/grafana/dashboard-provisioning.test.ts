import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { committed, panelsOf } from './dashboard-files.ts'
import { textOf } from './files.ts'

/** The keys of Grafana's file of dashboard providers; an unknown one is passed over without a word. */
const providers = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.array(
    z.strictObject({
      name: z.string().min(1),
      orgId: z.int().optional(),
      folder: z.string().optional(),
      folderUid: z.string().optional(),
      type: z.literal('file'),
      disableDeletion: z.boolean().optional(),
      updateIntervalSeconds: z.int().min(10).optional(),
      allowUiUpdates: z.boolean().optional(),
      options: z.strictObject({
        path: z.string().startsWith('/'),
        foldersFromFilesStructure: z.boolean().optional(),
      }),
    }),
  ),
})

const datasources = z.looseObject({
  datasources: z.array(z.looseObject({ type: z.string(), uid: z.string() })),
})

describe('what Grafana is provisioned with', () => {
  it('is one folder of dashboards, which the screen cannot change', () => {
    const { providers: all } = providers.parse(
      parse(textOf('grafana/provisioning/dashboards/dashboards.yml')),
    )
    expect(all).toEqual([expect.objectContaining({ allowUiUpdates: false, disableDeletion: true })])
  })

  it('has every data source that a panel, an annotation or a variable names', () => {
    const there = datasources.parse(
      parse(textOf('grafana/provisioning/datasources/datasources.yml')),
    ).datasources
    const named = committed.flatMap(({ dashboard }) => [
      ...panelsOf(dashboard).map(({ datasource }) => datasource),
      ...dashboard.annotations.list.map(({ datasource }) => datasource),
    ])
    const missing = named.filter(
      ({ type, uid }) =>
        !there.some((one) => one.type === type && (one.uid === uid || uid === '${datasource}')),
    )
    expect(missing).toEqual([])
  })
})
