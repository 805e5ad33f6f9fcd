/** What one process tells at `/metrics`. */
export type Scrape = {
  /** Of the series that is written so, labels included; null where there is none. */
  value: (series: string) => number | null
  /** How many series there are. */
  series: number
}

export async function scrape(opsUrl: string): Promise<Scrape> {
  const response = await fetch(`${opsUrl}/metrics`)
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const values = new Map(lines.map((line) => line.match(/^(.*) (\S+)$/)?.slice(1) as [string, string]))
  return {
    value: (series) => (values.has(series) ? Number(values.get(series)) : null),
    series: values.size,
  }
}
