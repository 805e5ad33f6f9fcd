-- Of what was observed, nothing but its group changes: groups that turn out to be one are joined. The right to update the
-- table stays as it is: an older program beside names the observation, where it applies a row again with the same text.
create trigger evidence_stands before update on evidence
  for each row when ((old.inbox_id, old.observation) is distinct from (new.inbox_id, new.observation))
  execute function refuse_change();

-- What an older program left out of a sighting is filled in once, out of its text.
create trigger sighting_stands before update on sighting
  for each row when (old.role is not null) execute function refuse_change();
