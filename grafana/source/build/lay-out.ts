import type { Panel as GrafanaPanel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard'
import type { Row } from './panel.ts'
import { renderPanel } from './render-panel.ts'

/** The rows as Grafana's panels, placed from left to right and from top to bottom. */
export function layOut(rows: readonly Row[]): (GrafanaPanel | RowPanel)[] {
  let id = 0
  let top = 0
  return rows.flatMap(({ title, panels, folded = false }) => {
    id += 1
    const heading: RowPanel = {
      id,
      type: 'row',
      title,
      collapsed: folded,
      gridPos: { x: 0, y: top, w: 24, h: 1 },
      panels: [],
    }
    top += 1
    let left = 0
    let bottom = top
    const placed = panels.map((panel) => {
      if (left + panel.width > 24) [left, top] = [0, bottom]
      const place = { x: left, y: top, w: panel.width, h: panel.height }
      left += panel.width
      bottom = Math.max(bottom, top + panel.height)
      id += 1
      return renderPanel(panel, place, id)
    })
    top = bottom
    return folded ? [{ ...heading, panels: placed }] : [heading, ...placed]
  })
}
