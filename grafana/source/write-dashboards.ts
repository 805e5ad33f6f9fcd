import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboards, dashboardText } from './dashboards.ts'

// Grafana reads the JSON files; after a change here: npm run dashboards
for (const [name, dashboard] of dashboards)
  writeFileSync(join(import.meta.dirname, `../dashboards/${name}.json`), dashboardText(dashboard))
