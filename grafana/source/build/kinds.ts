import type { Options as BarGaugeOptions } from '@grafana/grafana-foundation-sdk/bargauge'
import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeSizing,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  FieldTextAlignment,
  GraphDrawStyle,
  type GraphFieldConfig,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  PercentChangeColorMode,
  SortOrder,
  StackingMode,
  TableCellHeight,
  type TableFieldOptions,
  TooltipDisplayMode,
  VizOrientation,
} from '@grafana/grafana-foundation-sdk/common'
import type { Options as StatOptions } from '@grafana/grafana-foundation-sdk/stat'
import type { Options as TableOptions } from '@grafana/grafana-foundation-sdk/table'
import type { Options as TimeseriesOptions } from '@grafana/grafana-foundation-sdk/timeseries'
import type { Panel } from './panel.ts'

const newest = { calcs: ['lastNotNull'], fields: '', values: false }

const stat: StatOptions = {
  colorMode: BigValueColorMode.Background,
  graphMode: BigValueGraphMode.None,
  justifyMode: BigValueJustifyMode.Auto,
  textMode: BigValueTextMode.Auto,
  orientation: VizOrientation.Auto,
  wideLayout: true,
  showPercentChange: false,
  percentChangeColorMode: PercentChangeColorMode.Standard,
  reduceOptions: newest,
}

const timeseries: TimeseriesOptions = {
  legend: {
    displayMode: LegendDisplayMode.Table,
    placement: LegendPlacement.Bottom,
    showLegend: true,
    calcs: ['lastNotNull', 'max'],
  },
  tooltip: { mode: TooltipDisplayMode.Multi, sort: SortOrder.Descending },
}

const table: TableOptions = { frameIndex: 0, showHeader: true, cellHeight: TableCellHeight.Sm }

const bargauge: BarGaugeOptions = {
  displayMode: BarGaugeDisplayMode.Basic,
  valueMode: BarGaugeValueMode.Color,
  namePlacement: BarGaugeNamePlacement.Auto,
  showUnfilled: true,
  sizing: BarGaugeSizing.Auto,
  minVizWidth: 8,
  minVizHeight: 16,
  maxVizHeight: 300,
  orientation: VizOrientation.Horizontal,
  legend: {
    displayMode: LegendDisplayMode.List,
    placement: LegendPlacement.Bottom,
    showLegend: false,
    calcs: [],
  },
  reduceOptions: newest,
}

/** How each kind of panel looks, the same everywhere. */
export const optionsOf = { stat, timeseries, table, bargauge }

/** What a kind of panel keeps with each field. */
export function customOf({ kind, stacked, bars, thresholds }: Panel): object {
  if (kind === 'table') return { align: FieldTextAlignment.Auto, inspect: false } satisfies TableFieldOptions
  if (kind !== 'timeseries') return {}
  const isBound = thresholds.length > 1
  return {
    drawStyle: bars ? GraphDrawStyle.Bars : GraphDrawStyle.Line,
    lineWidth: 1,
    fillOpacity: bars ? 80 : stacked ? 30 : 0,
    stacking: { mode: stacked ? StackingMode.Normal : StackingMode.None, group: 'A' },
    thresholdsStyle: { mode: isBound ? GraphThresholdsStyleMode.Dashed : GraphThresholdsStyleMode.Off },
  } satisfies GraphFieldConfig
}
