package kube

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestANodeThatDoesNotServeSaysWhy(t *testing.T) {
	condition := func(status corev1.ConditionStatus, reason, message string) []corev1.NodeCondition {
		return []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: reason, Message: message,
			LastTransitionTime: metav1.NewTime(time.Date(2026, 3, 1, 12, 13, 0, 0, time.UTC))}}
	}
	for want, node := range map[string]corev1.Node{
		"": {Status: corev1.NodeStatus{Conditions: condition(corev1.ConditionTrue, "KubeletReady", "")}},
		"is not Ready since 12:13:00 UTC (KubeletNotReady: cni plugin not initialized)": {
			Status: corev1.NodeStatus{
				Conditions: condition(corev1.ConditionFalse, "KubeletNotReady", "cni plugin not initialized")}},
		"is not heard of since 12:13:00 UTC (NodeStatusUnknown)": {
			Status: corev1.NodeStatus{Conditions: condition(corev1.ConditionUnknown, "NodeStatusUnknown", "")}},
		"has no condition Ready yet": {},
		"is cordoned": {Spec: corev1.NodeSpec{Unschedulable: true},
			Status: corev1.NodeStatus{Conditions: condition(corev1.ConditionTrue, "", "")}},
		"is being deleted": {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}},
	} {
		if got := nodeOf(&node).Trouble(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
