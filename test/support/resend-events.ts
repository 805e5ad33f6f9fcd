import type { World } from './world.ts'

type Page = { data: { id: string; created_at: string }[]; next_cursor: string | null }

/** Has the service send again, by the calls of docs/operations.md, what its own log has of that moment and later. */
export async function resendEvents({ service, environment }: World, from: Date): Promise<void> {
  const key = { 'x-api-key': environment.SERVICE_API_KEY ?? '' }
  const headers = { ...key, 'content-type': 'application/json' }
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await fetch(`${service.url}/v1/events?limit=100${cursor}`, { headers: key })
    const { data, next_cursor } = (await page.json()) as Page
    const wanted = data.filter(({ created_at }) => new Date(created_at) > from)
    for (const { id } of wanted) {
      const answer = await fetch(`${service.url}/v1/events/${id}/resend`, {
        method: 'POST',
        headers,
        body: '{}',
      })
      if (answer.status !== 200) throw new Error(`${id} is not sent again: ${answer.status}`)
    }
    cursor = wanted.length === data.length && next_cursor !== null ? `&cursor=${next_cursor}` : null
  }
}
