{{- /* What the values' schema can't say, or can't say in words. */ -}}
{{- define "salve.validate" -}}
{{- include "salve.validateNamespace" (dict "name" "journal.namespace" "value" .Values.journal.namespace "longest" 55) }}
{{- range $name := list "jobNamespace" "podNamespace" }}
{{- with get $.Values.prow $name }}
{{- include "salve.validateNamespace" (dict "name" (printf "prow.%s" $name) "value" . "longest" 63) }}
{{- end }}
{{- end }}
{{- if and .Values.prow.enabled (ne .Values.runbook "rescue-stranded-pods") }}
{{- fail "prow.enabled: it is for runbook rescue-stranded-pods alone" }}
{{- end }}
{{- if eq .Values.mode "cronjob" }}
{{- include "salve.validateSchedule" .Values.cronjob.schedule }}
{{- include "salve.validateTimeZone" .Values.cronjob.timeZone }}
{{- end }}
{{- include "salve.validateSubjects" . }}
{{- range $label, $_ := .Values.podLabels }}
{{- if hasKey (include "salve.labels" $ | fromYaml) $label }}
{{- fail (printf "podLabels: %s is the chart's own: the NetworkPolicy finds its pods by it" $label) }}
{{- end }}
{{- end }}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) }}
{{- fail "serviceAccount.name: required with serviceAccount.create: false" }}
{{- end }}
{{- include "salve.validateArgs" . }}
{{- end -}}

{{- define "salve.validateNamespace" -}}
{{- if or (not (regexMatch "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" .value)) (gt (len .value) .longest) }}
{{- fail (printf "%s: %q is not a name of a namespace: lower-case letters, digits and hyphens, at most %d" .name .value .longest) }}
{{- end }}
{{- end -}}

{{- /* As https://github.com/robfig/cron/blob/v3/parser.go takes it, which Kubernetes asks. */ -}}
{{- define "salve.validateSchedule" -}}
{{- if contains "TZ=" . }}
{{- fail (printf "cronjob.schedule: %q: the time zone is cronjob.timeZone" .) }}
{{- end }}
{{- if hasPrefix "@" . }}
{{- if not (regexMatch "^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every ([0-9]+(\\.[0-9]+)?(ms|s|m|h))+)$" .) }}
{{- fail (printf "cronjob.schedule: %q: it must be five fields, @hourly, @daily, @weekly, @monthly, @yearly or @every 1h" .) }}
{{- end }}
{{- else }}
{{- $fields := regexSplit "\\s+" (trim .) -1 }}
{{- if ne (len $fields) 5 }}
{{- fail (printf "cronjob.schedule: %q: it must be five fields (minute, hour, day of month, month, day of week), not %d" . (len $fields)) }}
{{- end }}
{{- $schedule := . }}
{{- range $i, $kind := list
      (dict "name" "minute" "least" 0 "most" 59 "names" list)
      (dict "name" "hour" "least" 0 "most" 23 "names" list)
      (dict "name" "day of month" "least" 1 "most" 31 "names" list)
      (dict "name" "month" "least" 1 "most" 12 "names" (list "jan" "feb" "mar" "apr" "may" "jun" "jul" "aug" "sep" "oct" "nov" "dec"))
      (dict "name" "day of week" "least" 0 "most" 6 "names" (list "sun" "mon" "tue" "wed" "thu" "fri" "sat")) }}
{{- range $part := splitList "," (index $fields $i) }}
{{- include "salve.validateScheduled" (dict "schedule" $schedule "kind" $kind "part" (lower $part)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* One number, name or range of a field. */ -}}
{{- define "salve.validateScheduled" -}}
{{- $wrong := printf "cronjob.schedule: %q: invalid %s %q: it must be from %d to %d" .schedule .kind.name .part .kind.least .kind.most }}
{{- if not (regexMatch "^([*?]|([0-9]{1,2}|[a-z]{3})(-([0-9]{1,2}|[a-z]{3}))?)(/0*[1-9][0-9]{0,3})?$" .part) }}
{{- fail $wrong }}
{{- end }}
{{- $last := -1 }}
{{- $kind := .kind }}
{{- range $word := regexFindAll "[0-9]+|[a-z]+" (regexReplaceAll "/.*" .part "") -1 }}
{{- $number := -1 }}
{{- if regexMatch "^[0-9]+$" $word }}
{{- $number = int (regexReplaceAll "^0+([0-9])" $word "${1}") }}
{{- else }}
{{- range $i, $name := $kind.names }}
{{- if eq $name $word }}
{{- $number = add $i $kind.least | int }}
{{- end }}
{{- end }}
{{- end }}
{{- if or (lt $number $kind.least) (gt $number $kind.most) (lt $number $last) }}
{{- fail $wrong }}
{{- end }}
{{- $last = $number }}
{{- end }}
{{- end -}}

{{- define "salve.validateTimeZone" -}}
{{- if or (eq (lower .) "local") (not (regexMatch "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$" .)) }}
{{- fail (printf "cronjob.timeZone: %q is not a name of the time zone database, such as Etc/UTC or Europe/Berlin" .) }}
{{- end }}
{{- end -}}

{{- define "salve.validateSubjects" -}}
{{- if and .Values.rbac.subjects (not .Values.rbac.create) }}
{{- fail "rbac.subjects: they get nothing with rbac.create: false" }}
{{- end }}
{{- range $i, $subject := .Values.rbac.subjects }}
{{- $at := printf "rbac.subjects[%d]" $i }}
{{- $name := get $subject "name" | default "" }}
{{- if not $name }}
{{- fail (printf "%s.name: required" $at) }}
{{- end }}
{{- if has $name (list "system:anonymous" "system:unauthenticated" "system:authenticated" "system:serviceaccounts") }}
{{- fail (printf "%s.name: %q is everybody: name who runs the workload" $at $name) }}
{{- end }}
{{- $group := get $subject "apiGroup" | default "" }}
{{- $namespace := get $subject "namespace" | default "" }}
{{- if eq (get $subject "kind" | default "") "ServiceAccount" }}
{{- if not (regexMatch "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$" $name) }}
{{- fail (printf "%s.name: %q is not a name of a service account" $at $name) }}
{{- end }}
{{- if not $namespace }}
{{- fail (printf "%s.namespace: required for a ServiceAccount" $at) }}
{{- end }}
{{- include "salve.validateNamespace" (dict "name" (printf "%s.namespace" $at) "value" $namespace "longest" 63) }}
{{- if $group }}
{{- fail (printf "%s.apiGroup: a ServiceAccount has none" $at) }}
{{- end }}
{{- else }}
{{- if $namespace }}
{{- fail (printf "%s.namespace: a %s has none" $at $subject.kind) }}
{{- end }}
{{- if not (has $group (list "" "rbac.authorization.k8s.io")) }}
{{- fail (printf "%s.apiGroup: %q: it must be rbac.authorization.k8s.io" $at $group) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Flags that a value gives, that need a value's rights, or that the runbook requires. */ -}}
{{- define "salve.validateArgs" -}}
{{- $args := .Values.args | default list }}
{{- if $args }}
{{- if not (hasPrefix "-" (first $args)) }}
{{- fail (printf "args: %q is not a flag; what is run is said by mode, command and runbook" (first $args)) }}
{{- end }}
{{- end }}
{{- $owned := dict "journal-namespace" "set journal.namespace" "watch" "set mode: watch"
      "kubernetes-events" "set events.enabled" "journal" "a folder of the pod is lost with it; records are kept in the cluster" }}
{{- $needs := dict "approve-by" "approvals" "approval-policy" "approvals" "prow-config" "prow" }}
{{- if eq .Values.mode "prow-watch" }}
{{- $owned = dict "metrics-address" "set metrics.port" "until" "a Deployment would start it again" "for" "a Deployment would start it again" }}
{{- $needs = dict }}
{{- end }}
{{- range $flag, $instead := $owned }}
{{- if include "salve.given" (dict "args" $args "flag" $flag) }}
{{- fail (printf "args: --%s is not taken here: %s" $flag $instead) }}
{{- end }}
{{- end }}
{{- range $flag, $value := $needs }}
{{- if and (include "salve.given" (dict "args" $args "flag" $flag)) (not (get $.Values $value).enabled) }}
{{- fail (printf "args: --%s needs the rights of %s.enabled: true" $flag $value) }}
{{- end }}
{{- end }}
{{- include "salve.validateRequired" . }}
{{- end -}}

{{- define "salve.validateRequired" -}}
{{- $known := .Files.Get "roles/runbooks.yaml" | fromYaml }}
{{- $task := include "salve.task" . }}
{{- $required := get (get $known "prow-watch") "required" }}
{{- if ne .Values.mode "prow-watch" }}
{{- $required = get (get $known.runbooks $task | default dict) "required" | default list }}
{{- end }}
{{- $args := .Values.args | default list }}
{{- $variables := list }}
{{- range .Values.env }}
{{- $variables = append $variables .name }}
{{- end }}
{{- $missing := list }}
{{- range $one := $required }}
{{- $flags := list $one.flag }}
{{- if hasKey $one "unless" }}
{{- $flags = append $flags $one.unless }}
{{- end }}
{{- if ne $.Values.mode "prow-watch" }}
{{- $flags = append $flags "plan" }}
{{- end }}
{{- $given := "" }}
{{- range $flag := $flags }}
{{- $given = include "salve.given" (dict "args" $args "flag" $flag "value" true) | default $given }}
{{- end }}
{{- if hasKey $one "variable" }}
{{- if or (has $one.variable $variables) (has "SALVE_CONFIG" $variables) $.Values.envFrom }}
{{- $given = "true" }}
{{- end }}
{{- end }}
{{- if not $given }}
{{- $missing = append $missing (printf "--%s" $one.flag) }}
{{- end }}
{{- end }}
{{- if $missing }}
{{- fail (printf "args: %s requires %s" $task (join ", " $missing)) }}
{{- end }}
{{- end -}}

{{- /* Whether args give a flag; with value: a value that is not empty. */ -}}
{{- define "salve.given" -}}
{{- $flag := printf "--%s" .flag }}
{{- $count := len .args }}
{{- $found := "" }}
{{- range $i, $arg := .args }}
{{- if and (hasPrefix (printf "%s=" $flag) $arg) (or (not $.value) (ne $arg (printf "%s=" $flag))) }}
{{- $found = "true" }}
{{- end }}
{{- if and (eq $arg $flag) (or (not $.value) (lt (add1 $i | int) $count)) }}
{{- $found = "true" }}
{{- end }}
{{- end }}
{{- $found -}}
{{- end -}}
