import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { overview } from './overview.ts'

// Grafana reads the JSON files; after a change here: node grafana/source/write-dashboards.ts
writeFileSync(
  join(import.meta.dirname, '../dashboards/overview.json'),
  `${JSON.stringify(overview, null, 2)}\n`,
)
